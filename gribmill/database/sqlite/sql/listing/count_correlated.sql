SELECT type, status, count(*) AS n FROM jobs INDEXED BY jobs_correlation
WHERE correlation_id = :correlation_id AND correlation_id IS NOT NULL
  AND (:tenant_id IS NULL OR tenant_id = :tenant_id) GROUP BY type, status ORDER BY type, status
