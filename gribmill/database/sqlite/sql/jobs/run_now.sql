UPDATE jobs SET next_run_at = NULL WHERE id = :job_id AND status = 'pending'
