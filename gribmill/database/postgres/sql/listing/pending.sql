-- A partial index covers each branch.
SELECT * FROM jobs WHERE id IN (
  SELECT id FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
  UNION ALL SELECT id FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
  UNION ALL SELECT id FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL
  UNION ALL SELECT id FROM jobs
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL)
  -- include listing/parts/newest_first
