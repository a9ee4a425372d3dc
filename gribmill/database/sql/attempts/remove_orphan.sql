DELETE FROM job_attempts
WHERE job_id = :job_id AND attempt_no = :attempt_no AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = :job_id)
