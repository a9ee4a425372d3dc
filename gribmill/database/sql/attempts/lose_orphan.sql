UPDATE job_attempts SET status = 'lost', finished_at = :now, error_text = :error
WHERE job_id = :job_id AND attempt_no = :attempt_no AND status = 'running' AND NOT EXISTS (
  SELECT 1 FROM jobs WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no)
