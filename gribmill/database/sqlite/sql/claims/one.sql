-- include claims/parts/job
FROM jobs j JOIN job_definitions d ON d.key = j.type
WHERE j.id = :job_id AND j.status = 'pending' AND j.deps_left = 0 AND d.is_active = 1 AND d.paused_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM direct_reservations r INDEXED BY direct_reservations_one
    WHERE r.status = 'ACTIVE' AND r.expires_at > :now AND (r.scope = '*' OR r.scope = j.type)
      AND NOT EXISTS (SELECT 1 FROM reservation_workers w
        WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id))
  AND (d.max_running IS NULL OR d.max_running > (
    SELECT count(DISTINCT batch_id) FROM jobs INDEXED BY jobs_lease WHERE type = j.type AND status = 'processing'))
  AND (d.resources = '[]' OR NOT EXISTS (
    SELECT 1 FROM json_each(d.resources) tag CROSS JOIN resource_limits r ON r.tag = tag.value
    WHERE r.most <= (
      SELECT count(DISTINCT b.batch_id) FROM jobs b INDEXED BY jobs_lease
      WHERE b.status = 'processing' AND EXISTS (
        SELECT 1 FROM json_each((SELECT resources FROM job_definitions WHERE key = b.type)) WHERE value = r.tag))))
