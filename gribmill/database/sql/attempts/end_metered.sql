UPDATE job_attempts SET status = ?, finished_at = ?, exit_code = ?, stdout_tail = ?, stderr_tail = ?, error_text = ?,
  artifacts = ?, log_path = ?, downloaded_bytes = ?, written_bytes = ?
WHERE job_id = ? AND attempt_no = ? AND status = 'running'
