-- Those of which no job starts: disabled, or as many in flight as allowed.
SELECT name FROM tenants WHERE disabled_at IS NOT NULL
UNION SELECT t.name FROM (
  SELECT tenant_id, count(*) AS running FROM jobs
  WHERE status = 'processing' AND tenant_id <> 'global' GROUP BY tenant_id) r
JOIN tenants t ON t.name = r.tenant_id WHERE t.max_running <= r.running
