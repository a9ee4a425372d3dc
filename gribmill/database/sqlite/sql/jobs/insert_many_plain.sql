-- As `insert_many`, where only the arguments differ.
INSERT INTO jobs (created_at, next_run_at, type, priority, max_attempts, tenant_id, source, source_ref,
                  correlation_id, created_by, retry_of, timeout_seconds, group_id, template_id, requested_by, args)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, value FROM json_each(?)
