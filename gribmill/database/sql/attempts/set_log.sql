UPDATE job_attempts SET log_path = :log_path
WHERE job_id = :job_id AND attempt_no = :attempt_no AND status <> 'running' AND log_path IS NULL
