UPDATE jobs SET next_run_at = NULL, ready_at = iif(attempt_no = 0, :now, ready_at), changed_at = :now WHERE id = :job_id AND status = 'pending'
