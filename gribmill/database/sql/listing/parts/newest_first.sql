  AND id < :before AND id >= :oldest
  AND (type = :type OR :type IS NULL)
  AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  AND (group_key = :group_key OR :group_key IS NULL)
  AND (worker_id = :worker_id OR :worker_id IS NULL)
  AND (source = :source OR :source IS NULL)
  AND (correlation_id = :correlation_id OR :correlation_id IS NULL)
  AND (created_at >= :created_after OR :created_after IS NULL)
  AND (created_at < :created_before OR :created_before IS NULL)
  AND (CAST(:retried AS INTEGER) IS NULL
    OR CAST(EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = jobs.id) AS INTEGER) = :retried)
ORDER BY id DESC LIMIT :limit
