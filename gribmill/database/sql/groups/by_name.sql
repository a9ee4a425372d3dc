SELECT * FROM job_groups WHERE tenant_id = :tenant_id AND name = :name
