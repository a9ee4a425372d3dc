SELECT id, position FROM (
  SELECT id, position, created_at FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND priority = :priority
  UNION ALL SELECT id, position, created_at FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND priority = :priority
  UNION ALL SELECT id, position, created_at FROM jobs INDEXED BY jobs_waiting
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL AND priority = :priority
) AS waiting ORDER BY position, created_at, id
