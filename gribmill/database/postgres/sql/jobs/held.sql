-- Locks the job, so that a cancel request comes either before this or after the job's new state is committed.
SELECT type, retry_count, max_attempts, cancel_requested_at IS NOT NULL AS cancel_requested FROM jobs
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND worker_id = :worker_id
FOR NO KEY UPDATE
