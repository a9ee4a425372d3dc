-- What is left out has defaults: Python takes longer to hand over a NULL than any value.
INSERT INTO jobs (created_at, type, priority, max_attempts, tenant_id, source, args) VALUES (?, ?, ?, ?, ?, ?, ?)
