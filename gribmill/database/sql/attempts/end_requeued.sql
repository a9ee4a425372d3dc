-- Copies the job's `ready_at`, which is about to change for the next attempt.
UPDATE job_attempts SET status = ?, finished_at = ?, exit_code = ?, stdout_tail = ?, stderr_tail = ?, error_text = ?,
  artifacts = ?, log_path = ?, downloaded_bytes = ?, written_bytes = ?,
  ready_at = (SELECT coalesce(j.ready_at, j.created_at) FROM jobs j WHERE j.id = job_attempts.job_id)
WHERE job_id = ? AND attempt_no = ? AND status = 'running'
