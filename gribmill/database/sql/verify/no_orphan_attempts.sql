SELECT a.job_id, 'attempt ' || a.attempt_no || ' belongs to no job' AS detail
FROM job_attempts a LEFT JOIN jobs j ON j.id = a.job_id WHERE j.id IS NULL
