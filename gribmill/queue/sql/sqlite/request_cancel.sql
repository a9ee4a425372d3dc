UPDATE jobs SET cancel_requested_at = coalesce(cancel_requested_at, :now)
WHERE id = :job_id AND status = 'processing' AND lease_expires_at IS NOT NULL
