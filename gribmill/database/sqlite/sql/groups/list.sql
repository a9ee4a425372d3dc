SELECT * FROM job_groups
WHERE (:tenant_id IS NULL OR tenant_id = :tenant_id) AND (:before IS NULL OR id < :before)
ORDER BY id DESC LIMIT :limit
