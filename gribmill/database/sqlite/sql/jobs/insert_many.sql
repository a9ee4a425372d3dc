-- One statement for many rows: SQLite opens its indexes, and reads and writes the last id, once for all of them.
INSERT OR ABORT INTO jobs (id, created_at, next_run_at, type, priority, max_attempts, tenant_id, source, source_ref,
                  correlation_id, created_by, retry_of, timeout_seconds, group_id, template_id, requested_by,
                  args, group_key, dedupe_key)
SELECT key + 1 +
-- include jobs/parts/last_id
  , ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, json_extract(value, '$[0]'), json_extract(value, '$[1]'),
  json_extract(value, '$[2]')
FROM json_each(?) WHERE true  -- without it, ON would start a join
ON CONFLICT (tenant_id, dedupe_key) WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') DO NOTHING
