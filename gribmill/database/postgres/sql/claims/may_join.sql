SELECT 1 FROM job_definitions
WHERE key = :type AND is_active = 1 AND paused_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM direct_reservations r
    WHERE r.status = 'ACTIVE' AND r.expires_at > :now AND (r.scope = '*' OR r.scope = :type)
      AND NOT EXISTS (SELECT 1 FROM reservation_workers w
        WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id))
  AND (max_running IS NULL OR :type <> ALL (string_to_array(current_setting('gribmill.busy', true), E'\n'))
    AND max_running > (SELECT count(DISTINCT batch_id) FROM jobs
      WHERE type = :type AND status = 'processing' AND batch_id IS DISTINCT FROM :batch_id))
