-- Attempts without a job, and running attempts whose job is not running.
SELECT a.job_id, a.attempt_no FROM job_attempts a LEFT JOIN jobs j ON j.id = a.job_id
WHERE j.id IS NULL OR (a.status = 'running' AND (j.status <> 'processing' OR j.attempt_no <> a.attempt_no))
LIMIT :limit
