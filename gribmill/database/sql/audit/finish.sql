UPDATE audit_entries SET status = :status, tenant_id = :tenant_id, object = :object, before = :before, after = :after
WHERE id = :id AND status IS NULL
