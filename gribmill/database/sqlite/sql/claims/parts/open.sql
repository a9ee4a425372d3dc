-- The definition of a type, if one of its jobs may start.
CROSS JOIN job_definitions d ON d.rowid = (
  SELECT rowid FROM job_definitions
  WHERE key = t.value AND is_active = 1 AND paused_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM direct_reservations r INDEXED BY direct_reservations_one
      WHERE status = 'ACTIVE' AND expires_at > :now AND (scope = '*' OR scope = t.value)
        AND NOT EXISTS (SELECT 1 FROM reservation_workers w
          WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id))
    AND (max_running IS NULL OR max_running > (
      SELECT count(DISTINCT batch_id) FROM jobs INDEXED BY jobs_lease WHERE type = t.value AND status = 'processing'))
    AND (resources = '[]' OR NOT EXISTS (
      SELECT 1 FROM json_each(resources) tag CROSS JOIN resource_limits r ON r.tag = tag.value
      WHERE r.most <= (
        SELECT count(DISTINCT b.batch_id) FROM jobs b INDEXED BY jobs_lease
        WHERE b.status = 'processing' AND EXISTS (
          SELECT 1 FROM json_each((SELECT resources FROM job_definitions WHERE key = b.type)) WHERE value = r.tag)))))
