INSERT INTO events (name, tenant_id, payload, created_at, job_id) VALUES (:name, :tenant_id, :payload, :now, :job_id)
