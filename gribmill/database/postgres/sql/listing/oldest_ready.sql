-- When the oldest ready job of each type became ready. Includes due jobs, which only the next claim promotes.
SELECT type, min(oldest) AS oldest FROM (
  SELECT type, coalesce(ready_at, created_at) AS oldest FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, coalesce(ready_at, created_at) FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT type, greatest(ready_at, next_run_at) FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now AND deps_left = 0
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)) AS all_kinds
GROUP BY type
