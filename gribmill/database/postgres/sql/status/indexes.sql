-- Wasted bytes are estimated as for tables. The width of B-tree entries is an upper bound (equal keys are stored once),
-- so an index is never reported as more bloated than it is.
WITH entry_width AS (
  SELECT i.indexrelid, sum(w.avg_width) AS bytes, count(*) = count(w.avg_width) AS known
  FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
  JOIN pg_attribute a ON a.attrelid = i.indexrelid
  LEFT JOIN pg_attribute source ON source.attrelid = i.indrelid AND source.attnum = i.indkey[a.attnum - 1]
    AND source.attnum > 0
  LEFT JOIN pg_stats w ON w.schemaname = t.relnamespace::regnamespace::text AND NOT w.inherited
    AND (w.tablename, w.attname) = (CASE WHEN source.attname IS NULL THEN x.relname ELSE t.relname END,
      coalesce(source.attname, a.attname))
  WHERE t.relnamespace = current_schema()::regnamespace GROUP BY i.indexrelid
)
SELECT s.indexrelname::text AS name, s.relname::text AS "table", s.idx_scan AS scans,
  pg_relation_size(s.indexrelid) AS bytes, i.indisvalid AS is_valid,
  CASE WHEN c.reltuples >= 0 AND w.known AND method.amname = 'btree' THEN page.bytes * greatest(0, c.relpages - 1 - ceil(
    c.reltuples * (4 + 8 * ceil((8 + w.bytes) / 8.0)) / ((page.bytes - 40) * 0.9)))::bigint END AS wasted_bytes
FROM pg_stat_user_indexes s JOIN pg_class c ON c.oid = s.indexrelid JOIN pg_am method ON method.oid = c.relam
JOIN pg_index i ON i.indexrelid = s.indexrelid JOIN entry_width w ON w.indexrelid = s.indexrelid
CROSS JOIN (SELECT current_setting('block_size')::bigint AS bytes) AS page
WHERE s.schemaname = current_schema() ORDER BY bytes DESC, name
