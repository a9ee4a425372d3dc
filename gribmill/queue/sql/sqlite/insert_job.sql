INSERT INTO jobs (created_at, next_run_at, deps_left, status, completed_at, error_message, type, priority,
                  max_attempts, tenant_id, source, source_ref, correlation_id, retry_of, created_by,
                  args, dedupe_key, group_key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant_id, dedupe_key) WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') DO NOTHING
