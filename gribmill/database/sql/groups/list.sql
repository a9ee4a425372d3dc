SELECT * FROM job_groups
WHERE (tenant_id = :tenant_id OR :tenant_id IS NULL) AND (id < :before OR :before IS NULL)
ORDER BY id DESC LIMIT :limit
