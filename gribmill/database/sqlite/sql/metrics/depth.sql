-- Tenants other than `global` have counters for every status.
SELECT tenant_id, type, status, sum(n) AS n FROM (
  SELECT 'global' AS tenant_id, type, 'pending' AS status, count(*) AS n FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND (tenant_id <> 'global') = 0 GROUP BY type
  UNION ALL SELECT tenant_id, type, 'pending', 1 FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, 'pending', 1 FROM jobs INDEXED BY jobs_waiting
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, 'processing', 1 FROM jobs INDEXED BY jobs_lease
  WHERE status = 'processing' AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, status, n FROM job_counts WHERE n > 0)
GROUP BY tenant_id, type, status
