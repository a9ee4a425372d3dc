SELECT * FROM direct_reservations WHERE status = 'ACTIVE' AND expires_at > :now ORDER BY reserved_at
