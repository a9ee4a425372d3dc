-- Tenants other than `global` have counters for every status. For `global`, a partial index covers each branch.
SELECT type, status, sum(n) AS n FROM (
  SELECT type, status, 1 AS n FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, status, 1 AS n FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global' AND tenant_id = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, status, 1 AS n FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND tenant_id = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, status, 1 AS n FROM jobs
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL AND tenant_id = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, status, 1 AS n FROM jobs
  WHERE status = 'processing' AND tenant_id = 'global' AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, status, n FROM job_counts WHERE tenant_id = :tenant_id OR :tenant_id IS NULL
  UNION ALL SELECT type, status, n FROM job_count_changes WHERE tenant_id = :tenant_id OR :tenant_id IS NULL) AS counted
GROUP BY type, status HAVING sum(n) > 0 ORDER BY type, status
