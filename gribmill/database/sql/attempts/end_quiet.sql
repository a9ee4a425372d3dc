-- For attempts without output, the majority: Python takes longer to bind four NULLs than SQLite to write the rest.
UPDATE job_attempts SET status = ?, finished_at = ?, exit_code = ?
WHERE job_id = ? AND attempt_no = ? AND status = 'running'
