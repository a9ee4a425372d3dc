SELECT * FROM events
WHERE id > :after_id AND (name GLOB :pattern OR :pattern IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY id LIMIT :limit
