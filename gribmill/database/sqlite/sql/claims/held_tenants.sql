-- Those of which no job starts: disabled, or as many in flight as allowed.
SELECT name FROM tenants INDEXED BY tenants_disabled WHERE disabled_at IS NOT NULL
UNION SELECT t.name FROM (
  SELECT tenant_id, count(*) AS running FROM jobs INDEXED BY jobs_lease
  WHERE status = 'processing' AND tenant_id <> 'global' GROUP BY tenant_id) r
CROSS JOIN tenants t ON t.name = r.tenant_id WHERE t.max_running <= r.running
