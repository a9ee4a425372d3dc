-- Tenants other than `global` have counters for every status.
SELECT tenant_id, type, status, sum(n) AS n FROM (
  SELECT tenant_id, type, status, 1 AS n FROM jobs WHERE status IN ('pending','processing') AND tenant_id = 'global'
  UNION ALL SELECT tenant_id, type, status, n FROM job_counts
  UNION ALL SELECT tenant_id, type, status, n FROM job_count_changes) AS counted
GROUP BY tenant_id, type, status HAVING sum(n) > 0
