SELECT * FROM events
WHERE id > :after_id AND (:pattern::text IS NULL OR gribmill_glob(name, :pattern))
  AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY id LIMIT :limit
