-- When the oldest ready job of each type became ready. Includes due jobs, which only the next claim promotes.
SELECT type, min(oldest) AS oldest FROM (
  SELECT type, min(coalesce(ready_at, created_at)) AS oldest FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL) GROUP BY type
  UNION ALL SELECT type, max(coalesce(ready_at, next_run_at), next_run_at) FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now AND deps_left = 0
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)) AS both_kinds
GROUP BY type
