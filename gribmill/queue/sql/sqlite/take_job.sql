UPDATE jobs SET status = 'processing', worker_id = :worker_id, started_at = :now, attempt_no = attempt_no + 1,
  batch_id = :batch_id, lease_expires_at = :lease_expires_at
WHERE id = :id AND status = 'pending'
