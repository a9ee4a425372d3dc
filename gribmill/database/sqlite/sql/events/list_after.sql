SELECT * FROM events
WHERE id > :after_id AND (id <= :through_id OR :through_id IS NULL)
  AND (name GLOB :pattern OR :pattern IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY id LIMIT :limit
