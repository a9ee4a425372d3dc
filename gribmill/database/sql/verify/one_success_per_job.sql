SELECT job_id, count(*) || ' attempts succeeded' AS detail FROM job_attempts
WHERE status IN ('succeeded','skipped') GROUP BY job_id HAVING count(*) > 1
