SELECT * FROM jobs INDEXED BY jobs_tenant_status
WHERE tenant_id = :tenant_id AND tenant_id <> 'global' AND status = :status AND status <> 'completed'
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  -- include listing/parts/newest_first
