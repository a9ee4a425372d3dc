INSERT INTO jobs (created_at, type, args, priority, max_attempts, tenant_id, dedupe_key, group_key, source,
                  source_ref, correlation_id, retry_of, created_by,
                  next_run_at, deps_left, status, completed_at, error_message)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant_id, dedupe_key) WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') DO NOTHING
