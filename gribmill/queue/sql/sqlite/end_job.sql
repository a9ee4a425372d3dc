UPDATE jobs SET status = :status, completed_at = :now, error_message = :error, dead_lettered_at = :dead_lettered_at,
  lease_expires_at = NULL, worker_id = NULL
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND worker_id = :worker_id
