SELECT * FROM access_tokens WHERE tenant_id = :tenant_id OR :tenant_id IS NULL ORDER BY created_at, id
