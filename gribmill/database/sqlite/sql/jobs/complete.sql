UPDATE jobs SET status = 'completed', completed_at = ?, lease_expires_at = NULL, worker_id = NULL, error_message = NULL
WHERE id = ? AND status = 'processing' AND attempt_no = ? AND worker_id = ?
