SELECT reservation_id FROM direct_reservations WHERE status = 'ACTIVE' AND expires_at <= :now
