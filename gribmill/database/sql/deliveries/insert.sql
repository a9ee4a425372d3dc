INSERT INTO webhook_deliveries (webhook_id, event_id, created_at, updated_at) VALUES (:webhook_id, :event_id, :now, :now)
ON CONFLICT DO NOTHING
