SELECT * FROM events
WHERE id > :after_id AND (:pattern IS NULL OR name GLOB :pattern) AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
ORDER BY id LIMIT :limit
