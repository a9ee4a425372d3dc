SELECT coalesce(sum(n), 0) AS n FROM (
  SELECT n FROM job_counts WHERE tenant_id = :tenant_id AND status = 'pending'
  UNION ALL SELECT n FROM job_count_changes WHERE tenant_id = :tenant_id AND status = 'pending'
  UNION ALL SELECT count(*) FROM jobs WHERE status = 'pending' AND requested_by = :tenant_id) AS counted
