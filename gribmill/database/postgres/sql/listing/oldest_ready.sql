SELECT min(oldest) AS oldest FROM (
  SELECT min(created_at) AS oldest FROM jobs
  WHERE type = :type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT min(created_at) FROM jobs
  WHERE type = :type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
    AND (tenant_id = :tenant_id OR :tenant_id IS NULL)) AS both_kinds
