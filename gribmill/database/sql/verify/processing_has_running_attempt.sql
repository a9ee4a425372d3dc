SELECT j.id AS job_id, 'processing with a lease, but attempt ' || j.attempt_no || ' is not running' AS detail
FROM jobs j WHERE j.status = 'processing' AND j.lease_expires_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM job_attempts a WHERE a.job_id = j.id AND a.attempt_no = j.attempt_no AND a.status = 'running'
    AND a.worker_id = j.worker_id)
