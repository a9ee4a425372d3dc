SELECT * FROM job_attempts WHERE job_id = :job_id ORDER BY attempt_no
