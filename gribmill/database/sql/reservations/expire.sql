UPDATE direct_reservations SET status = 'EXPIRED' WHERE status = 'ACTIVE' AND expires_at <= :now
