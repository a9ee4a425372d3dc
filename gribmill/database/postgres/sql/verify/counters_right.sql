SELECT NULL::bigint AS job_id, tenant_id || ' ' || type || ' ' || status || ': counted ' || sum(counted) || ', there are '
  || sum(real) AS detail
FROM (SELECT tenant_id, type, status, n AS counted, 0 AS real FROM job_counts
      UNION ALL SELECT tenant_id, type, status, n, 0 FROM job_count_changes
      UNION ALL SELECT tenant_id, type, status, 0, count(*) FROM jobs
      WHERE tenant_id <> 'global' OR status IN ('completed','failed','cancelled') GROUP BY 1, 2, 3) AS both_counts
GROUP BY tenant_id, type, status HAVING sum(counted) <> sum(real)
