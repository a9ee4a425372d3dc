SELECT 1 FROM job_definitions
WHERE key = :type AND is_active = 1 AND paused_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM direct_reservations r INDEXED BY direct_reservations_one
    WHERE status = 'ACTIVE' AND expires_at > :now AND (scope = '*' OR scope = :type)
      AND NOT EXISTS (SELECT 1 FROM reservation_workers w
        WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id))
  AND (max_running IS NULL OR max_running > (
    SELECT count(DISTINCT batch_id) FROM jobs INDEXED BY jobs_lease
    WHERE type = :type AND status = 'processing' AND batch_id IS NOT :batch_id))
