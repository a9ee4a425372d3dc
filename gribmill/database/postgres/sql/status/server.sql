SELECT current_setting('server_version') AS version,
  current_setting('server_version_num')::int / 10000 AS major,
  pg_database_size(current_database()) AS bytes,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
  current_setting('max_connections')::int AS max_connections,
  current_setting('fsync')::bool AND current_setting('full_page_writes')::bool
    AND current_setting('synchronous_commit') <> 'off' AS durable,
  current_setting('autovacuum')::bool AS autovacuum,
  (SELECT array_agg('the replication slot ' || slot_name) FROM pg_replication_slots
   WHERE xmin IS NOT NULL AND age(xmin) > 100000)
  || (SELECT array_agg('the prepared transaction ' || gid) FROM pg_prepared_xacts
      WHERE prepared < now() - interval '1 hour') AS holding_back
