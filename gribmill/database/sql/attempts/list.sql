SELECT a.job_id, a.attempt_no, a.worker_id, a.pid, a.started_at, a.finished_at, a.status, a.exit_code, a.stdout_tail,
  a.stderr_tail, a.error_text, a.artifacts, a.log_path, a.downloaded_bytes, a.written_bytes,
  coalesce(a.ready_at, j.ready_at, j.created_at) AS ready_at
FROM job_attempts a LEFT JOIN jobs j ON j.id = a.job_id WHERE a.job_id = :job_id ORDER BY a.attempt_no
