-- One statement for many rows; ids in the order of the rows.
INSERT INTO jobs (created_at, next_run_at, type, priority, max_attempts, tenant_id, source, source_ref,
                  correlation_id, created_by, retry_of, timeout_seconds, group_id, template_id, requested_by, args, group_key, dedupe_key)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, own.args, own.group_key, own.dedupe_key
FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS own(args, group_key, dedupe_key, n) ORDER BY own.n
ON CONFLICT (tenant_id, dedupe_key) WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing') DO NOTHING
RETURNING id, dedupe_key
