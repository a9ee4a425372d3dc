SELECT a.job_id, 'attempt ' || a.attempt_no || ' succeeded, but the job is ' || j.status AS detail
FROM job_attempts a JOIN jobs j ON j.id = a.job_id
WHERE a.status IN ('succeeded','skipped') AND j.status <> 'completed'
