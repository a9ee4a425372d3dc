SELECT * FROM jobs INDEXED BY jobs_correlation
WHERE correlation_id = :correlation_id AND correlation_id IS NOT NULL
  AND (status = :status OR :status IS NULL)
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  AND (id < :before OR :before IS NULL)
  AND (type = :type OR :type IS NULL)
  AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  AND (group_key = :group_key OR :group_key IS NULL)
  AND (worker_id = :worker_id OR :worker_id IS NULL)
  AND (source = :source OR :source IS NULL)
  AND (group_id = :group_id OR :group_id IS NULL)
  AND (created_at >= :created_after OR :created_after IS NULL)
  AND (created_at < :created_before OR :created_before IS NULL)
  AND (CAST(:retried AS INTEGER) IS NULL
    OR CAST(EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = jobs.id) AS INTEGER) = :retried)
ORDER BY id DESC LIMIT :limit
