SELECT coalesce(sum(n), 0) AS n FROM job_counts WHERE tenant_id = :tenant_id AND status = 'pending'
