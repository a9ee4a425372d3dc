SELECT id AS job_id, attempt_no FROM jobs INDEXED BY jobs_lease
WHERE status = 'processing' AND worker_id = :worker_id AND cancel_requested_at IS NOT NULL
