-- A partial index covers each branch.
SELECT * FROM jobs WHERE id IN (
  SELECT id FROM (
  SELECT id, priority, position, created_at FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
    AND (type = :type OR :type IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, priority, position, created_at FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
    AND (type = :type OR :type IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, priority, position, created_at FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL
    AND (type = :type OR :type IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  UNION ALL SELECT id, priority, position, created_at FROM jobs
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL
    AND (type = :type OR :type IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  ) AS waiting ORDER BY priority DESC, position, created_at, id LIMIT :limit)
ORDER BY priority DESC, position, created_at, id
