-- The next job of `global`, whether other tenants have ready jobs too (then they take turns, see fair_claims.py), and
-- whether some jobs are due, or have ended and not been settled.
SELECT j.id, j.type, j.args, j.tenant_id, j.group_key, j.attempt_no + 1 AS attempt_no, j.retry_count, j.max_attempts,
  coalesce(j.timeout_seconds, d.timeout_seconds) AS timeout_seconds, d.batch_max,
  iif(d.command IS NULL, NULL, json_object('command', json(d.command), 'schema', json(d.arg_schema))) AS command,
  EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_ready_of
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id <> 'global') AS has_rivals,
  EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_due
    WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now)
  OR EXISTS (SELECT 1 FROM ended_parents) AS has_due
FROM json_each(:types) t
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
CROSS JOIN jobs j ON j.id = (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE type = t.value AND (tenant_id <> 'global') = 0
    AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  ORDER BY priority DESC, nullif(tenant_id, 'global'), position, created_at, id LIMIT 1)
ORDER BY j.priority DESC, j.position, j.created_at, j.id LIMIT 1
