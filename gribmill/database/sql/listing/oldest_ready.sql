SELECT min(created_at) AS oldest FROM jobs INDEXED BY jobs_ready
WHERE type = :type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
