-- Locked: a request to cancel comes before this or sees the job's new state, never in between.
SELECT type, retry_count, max_attempts, cancel_requested_at IS NOT NULL AS cancel_requested FROM jobs
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND worker_id = :worker_id
FOR NO KEY UPDATE
