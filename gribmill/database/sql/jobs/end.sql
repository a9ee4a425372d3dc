-- A cancelled job keeps the reason given with the request.
UPDATE jobs SET status = :status, completed_at = :now, dead_lettered_at = :dead_lettered_at,
  error_message = CASE WHEN :status = 'cancelled' AND cancel_requested_at IS NOT NULL
                       THEN coalesce(error_message, :error) ELSE :error END,
  lease_expires_at = NULL, worker_id = NULL
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND worker_id = :worker_id
