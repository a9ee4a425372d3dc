-- Wasted bytes: pages beyond those that the live rows would fill, by the widths of the last ANALYZE, else unknown.
WITH row_width AS (
  SELECT tablename, sum((1 - null_frac) * avg_width) AS bytes FROM pg_stats
  WHERE schemaname = current_schema() AND NOT inherited GROUP BY tablename
)
SELECT s.relname::text AS name, s.n_live_tup AS rows, s.n_dead_tup AS dead_rows, pg_total_relation_size(s.relid) AS bytes,
  extract(epoch FROM now() - greatest(s.last_vacuum, s.last_autovacuum))::float8 AS vacuumed_seconds_ago,
  extract(epoch FROM now() - greatest(s.last_analyze, s.last_autoanalyze))::float8 AS analyzed_seconds_ago,
  CASE WHEN c.reltuples >= 0 THEN page.bytes * greatest(0, c.relpages - ceil(
    c.reltuples * (4 + 8 * ceil((24 + w.bytes) / 8)) / ((page.bytes - 24) * page.filled)))::bigint END AS wasted_bytes
FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid LEFT JOIN row_width w ON w.tablename = s.relname
CROSS JOIN LATERAL (
  SELECT current_setting('block_size')::bigint AS bytes, coalesce(
    (SELECT option_value::float8 / 100 FROM pg_options_to_table(c.reloptions) WHERE option_name = 'fillfactor'), 1) AS filled
) AS page
WHERE s.schemaname = current_schema() ORDER BY bytes DESC, name
