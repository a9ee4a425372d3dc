INSERT INTO audit_entries (created_at, actor, token_id, tenant_id, operation, object, address, status, before, after)
VALUES (:now, :actor, :token_id, :tenant_id, :operation, :object, :address, :status, :before, :after)
RETURNING *
