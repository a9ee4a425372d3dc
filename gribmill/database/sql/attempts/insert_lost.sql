-- A job that was running without an attempt, because a manual statement removed it.
INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at, finished_at, status, error_text)
SELECT id, attempt_no, :worker_id, coalesce(started_at, :now), :now, 'lost', :error FROM jobs
WHERE id = :job_id AND attempt_no = :attempt_no AND attempt_no > 0
ON CONFLICT DO NOTHING
