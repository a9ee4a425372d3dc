UPDATE webhook_deliveries SET status = :status, http_status = :http_status, error = :error, updated_at = :now
WHERE webhook_id = :webhook_id AND event_id = :event_id
