SELECT type, status, count(*) AS n FROM jobs INDEXED BY jobs_correlation
WHERE correlation_id = :correlation_id AND correlation_id IS NOT NULL GROUP BY type, status ORDER BY type, status
