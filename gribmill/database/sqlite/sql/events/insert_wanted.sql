-- Only if the event is always recorded, a trigger responds to it, or a webhook subscribes to it.
INSERT INTO events (name, tenant_id, payload, created_at, job_id)
SELECT :name, :tenant_id, :payload, :now, :job_id
WHERE EXISTS (SELECT 1 FROM recorded_events WHERE name = :name)
   OR EXISTS (SELECT 1 FROM job_triggers WHERE trigger_type = 'event' AND is_enabled = 1 AND event_name = :name)
   OR EXISTS (SELECT 1 FROM webhooks w, json_each(w.events) wanted
              WHERE w.is_enabled = 1 AND :name GLOB wanted.value)
