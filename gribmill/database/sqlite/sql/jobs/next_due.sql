SELECT min(next_run_at) AS due FROM jobs INDEXED BY jobs_due WHERE status = 'pending' AND next_run_at IS NOT NULL
