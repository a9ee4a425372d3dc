INSERT INTO events (name, tenant_id, payload, created_at, event_key, dispatched_at)
VALUES (:name, :tenant_id, :payload, :now, :event_key, :now)
ON CONFLICT (tenant_id, name, event_key) WHERE event_key IS NOT NULL DO NOTHING
RETURNING *
