UPDATE jobs SET status = 'pending', next_run_at = :next_run_at, retry_count = retry_count + :cost,
  error_message = coalesce(:error, error_message), lease_expires_at = NULL, worker_id = NULL, changed_at = :now
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND worker_id = :worker_id
