UPDATE jobs SET lease_expires_at = :lease_expires_at
WHERE status = 'processing' AND worker_id = :worker_id AND lease_expires_at IS NOT NULL
RETURNING id, attempt_no, cancel_requested_at IS NOT NULL AS cancel_requested
