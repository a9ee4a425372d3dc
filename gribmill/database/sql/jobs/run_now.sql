UPDATE jobs SET next_run_at = NULL, ready_at = CASE WHEN attempt_no = 0 THEN :now ELSE ready_at END, changed_at = :now
WHERE id = :job_id AND status = 'pending'
