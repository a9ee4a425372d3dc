SELECT d.*, e.name AS event_name FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
WHERE d.event_id = :event_id ORDER BY d.webhook_id
