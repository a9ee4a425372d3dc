SELECT id AS job_id, status || ' without completed_at' AS detail FROM jobs
WHERE status IN ('completed','failed','cancelled') AND completed_at IS NULL
