SELECT 1 FROM jobs INDEXED BY jobs_ready_of
WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id <> 'global' LIMIT 1
