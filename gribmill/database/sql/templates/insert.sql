INSERT INTO job_templates (tenant_id, name, definition_key, description, args, priority, timeout_seconds, max_attempts,
  dedupe_key, created_by, created_at, updated_at)
VALUES (:tenant_id, :name, :type, :description, :args, :priority, :timeout_seconds, :max_attempts,
  :dedupe_key, :created_by, :now, :now)
ON CONFLICT (tenant_id, name) DO NOTHING
