-- Tenants other than `global` have counters for every status.
SELECT type, status, sum(n) AS n FROM (
  SELECT type, 'pending' AS status, count(*) AS n FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND (claimant <> 'global') = 0
    AND coalesce(:tenant_id, 'global') = 'global' GROUP BY type
  UNION ALL SELECT type, 'pending', count(*) FROM jobs INDEXED BY jobs_requested_pending
  WHERE status = 'pending' AND requested_by IS NOT NULL AND next_run_at IS NULL AND deps_left = 0
    AND tenant_id = 'global' AND coalesce(:tenant_id, 'global') = 'global' GROUP BY type
  UNION ALL SELECT type, 'pending', 1 FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND tenant_id = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, 'pending', 1 FROM jobs INDEXED BY jobs_waiting
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL AND tenant_id = 'global'
    AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, 'processing', 1 FROM jobs INDEXED BY jobs_lease
  WHERE status = 'processing' AND tenant_id = 'global' AND coalesce(:tenant_id, 'global') = 'global'
  UNION ALL SELECT type, status, n FROM job_counts WHERE n > 0 AND (tenant_id = :tenant_id OR :tenant_id IS NULL))
GROUP BY type, status ORDER BY type, status
