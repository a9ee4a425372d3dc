UPDATE job_attempts SET status = :status, finished_at = :now, exit_code = :exit_code, stdout_tail = :stdout_tail,
  stderr_tail = :stderr_tail, error_text = :error, artifacts = :artifacts
WHERE job_id = :job_id AND attempt_no = :attempt_no AND status = 'running'
