UPDATE webhook_deliveries SET job_id = :job_id, status = 'pending', updated_at = :now
WHERE webhook_id = :webhook_id AND event_id = :event_id
