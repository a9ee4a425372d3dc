SELECT indexrelname::text AS name, relname::text AS "table", idx_scan AS scans, pg_relation_size(indexrelid) AS bytes
FROM pg_stat_user_indexes WHERE schemaname = current_schema() ORDER BY bytes DESC, name
