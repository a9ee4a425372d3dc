-- When the oldest ready job became ready. Includes due jobs, which only the next claim promotes.
SELECT min(oldest) AS oldest FROM (
  SELECT min(coalesce(ready_at, created_at)) AS oldest FROM jobs
  WHERE type = :type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT min(coalesce(ready_at, created_at)) FROM jobs
  WHERE type = :type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT min(greatest(ready_at, next_run_at)) FROM jobs
  WHERE type = :type AND status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now AND deps_left = 0
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)) AS all_kinds
