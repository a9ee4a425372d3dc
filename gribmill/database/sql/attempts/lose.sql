UPDATE job_attempts SET status = 'lost', finished_at = :now, error_text = :error,
  ready_at = (SELECT coalesce(ready_at, created_at) FROM jobs WHERE id = :job_id)
WHERE job_id = :job_id AND attempt_no = :attempt_no AND status = 'running'
