SELECT scope FROM direct_reservations INDEXED BY direct_reservations_one
WHERE status = 'ACTIVE' AND expires_at > :now
