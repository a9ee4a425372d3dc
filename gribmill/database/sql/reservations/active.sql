SELECT reservation_id AS id, scope, reserved_by, reserved_at, expires_at FROM direct_reservations
WHERE status = 'ACTIVE' AND expires_at > :now ORDER BY reserved_at
