SELECT d.*, e.name AS event_name FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
WHERE d.webhook_id = :webhook_id ORDER BY d.event_id DESC LIMIT :limit
