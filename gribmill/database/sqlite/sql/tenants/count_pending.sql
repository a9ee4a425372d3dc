SELECT (SELECT coalesce(sum(n), 0) FROM job_counts WHERE tenant_id = :tenant_id AND status = 'pending')
  + (SELECT count(*) FROM jobs INDEXED BY jobs_requested_pending
     WHERE status = 'pending' AND requested_by = :tenant_id AND requested_by IS NOT NULL) AS n
