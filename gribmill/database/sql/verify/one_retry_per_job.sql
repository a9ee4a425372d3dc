SELECT retry_of AS job_id, count(*) || ' retries were made of it' AS detail FROM jobs
WHERE retry_of IS NOT NULL AND source = 'system' GROUP BY retry_of HAVING count(*) > 1
