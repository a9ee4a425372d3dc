-- Skips the job if its lease was renewed or its cancellation was requested since the check; the next sweep decides.
UPDATE jobs SET status = :status, next_run_at = :next_run_at, retry_count = retry_count + :cost,
  error_message = CASE WHEN :status = 'cancelled' THEN coalesce(error_message, :error) ELSE :error END,
  completed_at = :completed_at, dead_lettered_at = :dead_lettered_at, lease_expires_at = NULL, worker_id = NULL,
  changed_at = :now
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no
  AND (cancel_requested_at IS NOT NULL)::int = :cancel_requested
  AND (:whatever_lease = 1 OR lease_expires_at IS NOT DISTINCT FROM :lease::timestamptz)
