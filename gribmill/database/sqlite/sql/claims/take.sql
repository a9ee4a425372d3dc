UPDATE jobs SET status = 'processing', worker_id = ?, started_at = ?, attempt_no = attempt_no + 1, batch_id = ?,
  lease_expires_at = ?
WHERE id = ? AND status = 'pending'
