UPDATE jobs SET
  error_message = CASE WHEN cancel_requested_at IS NULL THEN :error ELSE error_message END,
  cancel_requested_at = coalesce(cancel_requested_at, :now)
WHERE id = :job_id AND status = 'processing' AND lease_expires_at IS NOT NULL
