-- A job that was claimed by a manual statement has no lease.
SELECT a.job_id, 'attempt ' || a.attempt_no || ' is running, but the job is ' || j.status || ' at attempt '
  || j.attempt_no AS detail
FROM job_attempts a JOIN jobs j ON j.id = a.job_id
WHERE a.status = 'running' AND (j.status <> 'processing' OR j.attempt_no <> a.attempt_no)
