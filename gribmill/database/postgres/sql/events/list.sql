-- Newest first; `pattern` is a GLOB.
SELECT * FROM events
WHERE (:pattern::text IS NULL OR gribmill_glob(name, :pattern)) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  AND (created_at >= :since OR :since IS NULL) AND (id < :before_id OR :before_id IS NULL)
ORDER BY id DESC LIMIT :limit
