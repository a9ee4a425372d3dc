SELECT 1 FROM jobs INDEXED BY jobs_due
WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now LIMIT 1
