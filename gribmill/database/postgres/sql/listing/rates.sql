-- A job that was enqueued since then has ended since then, or is still active. Each branch has an index that holds
-- only such rows.
WITH recent AS (
  SELECT id, status, created_at, completed_at, dead_lettered_at, attempt_no FROM jobs
  WHERE completed_at IS NOT NULL AND completed_at >= :since AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, status, created_at, NULL, NULL, attempt_no FROM jobs
  WHERE status = 'processing' AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, status, created_at, NULL, NULL, attempt_no FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, status, created_at, NULL, NULL, attempt_no FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, status, created_at, NULL, NULL, attempt_no FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, status, created_at, NULL, NULL, attempt_no FROM jobs
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL))
SELECT coalesce(sum(CASE WHEN created_at >= :since THEN 1 ELSE 0 END), 0) AS enqueued,
  coalesce(sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END), 0) AS succeeded,
  coalesce(sum(CASE WHEN status = 'failed' THEN 1 ELSE 0 END), 0) AS failed,
  coalesce(sum(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END), 0) AS cancelled,
  coalesce(sum(CASE WHEN dead_lettered_at IS NOT NULL THEN 1 ELSE 0 END), 0) AS dead_lettered,
  (SELECT count(*) FROM recent r JOIN job_attempts a ON a.job_id = r.id
   WHERE r.attempt_no > 0 AND a.finished_at >= :since AND a.status IN ('failed','timeout','lost')
     AND NOT (r.status = 'failed' AND a.attempt_no = r.attempt_no)) AS retried
FROM recent
