UPDATE jobs SET status = 'completed', completed_at = :now, lease_expires_at = NULL, worker_id = NULL,
  error_message = NULL
WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND worker_id = :worker_id
RETURNING EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = jobs.id) AS has_children
