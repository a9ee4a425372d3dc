UPDATE jobs SET next_run_at = :next_run_at, changed_at = :now
WHERE id = :job_id AND status = 'pending' AND next_run_at = :was
