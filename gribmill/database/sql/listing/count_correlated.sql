SELECT type, status, count(*) AS n FROM jobs INDEXED BY jobs_correlation
WHERE correlation_id = :correlation_id AND correlation_id IS NOT NULL
  AND (tenant_id = :tenant_id OR :tenant_id IS NULL) GROUP BY type, status ORDER BY type, status
