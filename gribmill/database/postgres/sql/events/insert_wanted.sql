-- Only if the event is always recorded, a trigger responds to it, or a webhook subscribes to it.
INSERT INTO events (name, tenant_id, payload, created_at, job_id)
SELECT :name, :tenant_id, :payload, :now, :job_id WHERE gribmill_wanted(:name)
