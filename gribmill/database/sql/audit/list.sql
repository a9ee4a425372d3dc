SELECT * FROM audit_entries
WHERE (id < :before_id OR :before_id IS NULL) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  AND (operation = :operation OR :operation IS NULL) AND (token_id = :token_id OR :token_id IS NULL)
ORDER BY id DESC LIMIT :limit
