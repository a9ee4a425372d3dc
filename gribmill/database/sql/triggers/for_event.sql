SELECT * FROM job_triggers INDEXED BY job_triggers_event
WHERE trigger_type = 'event' AND is_enabled = 1 AND event_name = :event_name AND tenant_id = :tenant_id
ORDER BY id
