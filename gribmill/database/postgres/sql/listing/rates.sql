-- A job enqueued in the period has ended in it or is still active. A partial index covers each branch.
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
-- include listing/parts/rates
