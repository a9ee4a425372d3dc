SELECT pid, application_name AS application, coalesce(state, '') AS state,
  extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'
ORDER BY xact_start LIMIT 1
