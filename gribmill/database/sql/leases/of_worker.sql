SELECT id, type, worker_id, attempt_no, retry_count, max_attempts, cancel_requested_at IS NOT NULL AS cancel_requested,
  lease_expires_at
FROM jobs INDEXED BY jobs_lease
WHERE status = 'processing' AND worker_id = :worker_id
