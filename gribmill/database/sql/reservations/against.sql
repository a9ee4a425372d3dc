SELECT r.reservation_id AS id, scope, reserved_by, reserved_at, expires_at FROM direct_reservations r
WHERE status = 'ACTIVE' AND expires_at > :now AND NOT EXISTS (
  SELECT 1 FROM reservation_workers w WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id)
ORDER BY reserved_at
