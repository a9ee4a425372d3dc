INSERT INTO job_attempts (job_id, attempt_no, worker_id, pid, started_at) VALUES (?, ?, ?, ?, ?)
