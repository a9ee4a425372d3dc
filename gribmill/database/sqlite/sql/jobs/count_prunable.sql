SELECT count(*) AS n FROM jobs INDEXED BY jobs_finished
WHERE completed_at IS NOT NULL AND completed_at < :before AND status IN (SELECT value FROM json_each(:statuses))
