SELECT j.id AS job_id, 'completed, but attempt ' || j.attempt_no || ' is ' || a.status AS detail
FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.attempt_no = j.attempt_no
WHERE j.status = 'completed' AND j.worker_id IS NULL AND a.status NOT IN ('succeeded','skipped')
