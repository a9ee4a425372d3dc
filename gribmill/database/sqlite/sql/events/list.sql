-- `pattern` is a GLOB; the newest first.
SELECT * FROM events
WHERE (:pattern IS NULL OR name GLOB :pattern) AND (:tenant_id IS NULL OR tenant_id = :tenant_id)
  AND (:since IS NULL OR created_at >= :since) AND (:before_id IS NULL OR id < :before_id)
ORDER BY id DESC LIMIT :limit
