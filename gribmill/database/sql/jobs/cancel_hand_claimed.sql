UPDATE jobs SET status = 'cancelled', completed_at = :now, worker_id = NULL, error_message = :error
WHERE id = :job_id AND status = 'processing' AND lease_expires_at IS NULL
