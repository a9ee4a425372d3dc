UPDATE jobs SET next_run_at = NULL, ready_at = :now, changed_at = :now
WHERE id = :job_id AND status = 'pending'
