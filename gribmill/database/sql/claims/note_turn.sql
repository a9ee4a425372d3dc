INSERT INTO tenant_turns (types, priority, tenant_id, served_at) VALUES (:types, :priority, :tenant_id, :now)
ON CONFLICT (types, priority) DO UPDATE SET tenant_id = excluded.tenant_id, served_at = excluded.served_at
