SELECT * FROM jobs INDEXED BY jobs_of_group
WHERE group_key = :group_key AND group_key IS NOT NULL AND (:status IS NULL OR status = :status)
  AND (:dead IS NULL OR (dead_lettered_at IS NOT NULL) = :dead)
  AND (:before IS NULL OR id < :before)
  AND (:type IS NULL OR type = :type)
  AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
  AND (:worker_id IS NULL OR worker_id = :worker_id)
  AND (:source IS NULL OR source = :source)
  AND (:correlation_id IS NULL OR correlation_id = :correlation_id)
  AND (:created_after IS NULL OR created_at >= :created_after)
  AND (:created_before IS NULL OR created_at < :created_before)
  AND (:retried IS NULL OR EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = jobs.id) = :retried)
ORDER BY id DESC LIMIT :limit
