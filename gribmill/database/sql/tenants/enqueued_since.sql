-- The job enqueued as many jobs ago as a minute allows: if it is less than a minute old, the limit is exceeded.
SELECT 1 AS n FROM (
  SELECT created_at FROM (
    SELECT * FROM (SELECT id, created_at FROM jobs INDEXED BY jobs_tenant
      WHERE tenant_id = :tenant_id AND tenant_id <> 'global' ORDER BY id DESC LIMIT :limit + 1) AS own
    UNION ALL SELECT * FROM (SELECT id, created_at FROM jobs INDEXED BY jobs_requested
      WHERE requested_by = :tenant_id AND requested_by IS NOT NULL ORDER BY id DESC LIMIT :limit + 1) AS requested) AS newest
  ORDER BY id DESC LIMIT 1 OFFSET :limit) AS earlier WHERE created_at > :since
