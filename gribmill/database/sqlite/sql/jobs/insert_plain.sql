-- Omitted columns have defaults: Python takes longer to bind a NULL than any value.
INSERT INTO jobs (id, created_at, type, priority, max_attempts, tenant_id, source, args) VALUES (1 +
-- include jobs/parts/last_id
  , ?, ?, ?, ?, ?, ?, ?)
