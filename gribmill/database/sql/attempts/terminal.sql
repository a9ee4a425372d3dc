SELECT status, error_text FROM job_attempts
WHERE job_id = :job_id AND attempt_no = :attempt_no AND status <> 'running'
