-- Jobs of a batch are claimed at the same moment by the same worker.
SELECT a.job_id, a.attempt_no, h.job_id AS head_id, h.attempt_no AS head_attempt_no
FROM job_attempts a JOIN jobs j ON j.id = a.job_id
JOIN job_attempts h ON h.job_id = coalesce(j.batch_id, j.id) AND h.worker_id = a.worker_id AND h.started_at = a.started_at
WHERE a.job_id = :job_id AND a.status = 'lost' AND a.log_path IS NULL
