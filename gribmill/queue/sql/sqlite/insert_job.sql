INSERT INTO jobs (type, args, priority, status, created_at, next_run_at, deps_left, max_attempts, tenant_id,
                  dedupe_key, group_key, source, source_ref, correlation_id, retry_of, created_by,
                  completed_at, error_message)
VALUES (:type, :args, :priority, :status, :now, :next_run_at, :deps_left, :max_attempts, :tenant_id,
        :dedupe_key, :group_key, :source, :source_ref, :correlation_id, :retry_of, :created_by,
        :completed_at, :error_message)
ON CONFLICT (tenant_id, dedupe_key) WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') DO NOTHING
RETURNING id
