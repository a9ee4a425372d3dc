SELECT job_id, attempt_no FROM job_attempts WHERE job_id >= :first AND job_id < :end
