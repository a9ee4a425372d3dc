SELECT * FROM jobs WHERE id IN (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_waiting
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL)
  AND (:before IS NULL OR id < :before)
  AND (:type IS NULL OR type = :type)
  AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
  AND (:group_key IS NULL OR group_key = :group_key)
  AND (:worker_id IS NULL OR worker_id = :worker_id)
  AND (:source IS NULL OR source = :source)
  AND (:correlation_id IS NULL OR correlation_id = :correlation_id)
  AND (:created_after IS NULL OR created_at >= :created_after)
  AND (:created_before IS NULL OR created_at < :created_before)
ORDER BY id DESC LIMIT :limit
