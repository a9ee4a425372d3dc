-- Tenants other than `global` have counters for every status. For `global`, a partial index covers each branch.
SELECT tenant_id, type, status, sum(n) AS n FROM (
  SELECT tenant_id, type, status, 1 AS n FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
  UNION ALL SELECT tenant_id, type, status, 1 FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global' AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, status, 1 FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, status, 1 FROM jobs
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, status, 1 FROM jobs
  WHERE status = 'processing' AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, status, n FROM job_counts
  UNION ALL SELECT tenant_id, type, status, n FROM job_count_changes) AS counted
GROUP BY tenant_id, type, status HAVING sum(n) > 0
