INSERT OR ABORT INTO jobs (id, created_at, next_run_at, deps_left, status, completed_at, error_message, type, priority,
                  max_attempts, tenant_id, source, source_ref, correlation_id, created_by,
                  args, group_key, dedupe_key, retry_of, timeout_seconds, group_id, template_id, requested_by)
VALUES (1 +
-- include jobs/parts/last_id
  , ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant_id, dedupe_key) WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') DO NOTHING
