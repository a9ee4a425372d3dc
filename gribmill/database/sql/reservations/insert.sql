INSERT INTO direct_reservations (reservation_id, scope, reserved_at, reserved_by, expires_at, status)
VALUES (:id, :scope, :now, :reserved_by, :expires_at, 'ACTIVE')
ON CONFLICT (scope) WHERE status = 'ACTIVE' DO NOTHING
