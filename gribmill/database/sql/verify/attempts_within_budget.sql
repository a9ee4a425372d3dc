SELECT j.id AS job_id, count(*) || ' attempts for a budget of ' || j.max_attempts AS detail
FROM job_attempts a JOIN jobs j ON j.id = a.job_id
WHERE a.status NOT IN ('snoozed','cancelled') GROUP BY j.id HAVING count(*) > j.max_attempts AND count(*) > j.retry_count + 1
