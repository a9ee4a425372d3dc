SELECT * FROM jobs WHERE id IN (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_waiting
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL)
  -- include listing/parts/newest_first
