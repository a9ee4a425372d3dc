SELECT * FROM jobs INDEXED BY jobs_tenant
WHERE tenant_id = :tenant_id AND tenant_id <> 'global'
  AND (status = :status OR :status IS NULL)
  -- include listing/parts/newest_first
