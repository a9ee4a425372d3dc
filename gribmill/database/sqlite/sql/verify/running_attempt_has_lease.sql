SELECT a.job_id, 'attempt ' || a.attempt_no || ' is running, but the job is ' || j.status || ' at attempt '
  || j.attempt_no || CASE WHEN j.lease_expires_at IS NULL THEN ' without a lease' ELSE '' END AS detail
FROM job_attempts a JOIN jobs j ON j.id = a.job_id
WHERE a.status = 'running'
  AND (j.status <> 'processing' OR j.attempt_no <> a.attempt_no OR j.lease_expires_at IS NULL)
