-- Like `insert_many`, for jobs that differ only in their arguments.
INSERT OR ABORT INTO jobs (id, created_at, next_run_at, type, priority, max_attempts, tenant_id, source, source_ref,
                  correlation_id, created_by, retry_of, timeout_seconds, group_id, template_id, requested_by, args)
SELECT key + 1 +
-- include jobs/parts/last_id
  , ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, value FROM json_each(?)
