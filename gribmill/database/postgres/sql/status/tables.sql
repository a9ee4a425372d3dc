SELECT relname::text AS name, n_live_tup AS rows, n_dead_tup AS dead_rows, pg_total_relation_size(relid) AS bytes,
  extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum))::float8 AS vacuumed_seconds_ago,
  extract(epoch FROM now() - greatest(last_analyze, last_autoanalyze))::float8 AS analyzed_seconds_ago
FROM pg_stat_user_tables WHERE schemaname = current_schema() ORDER BY bytes DESC, name
