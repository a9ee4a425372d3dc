SELECT key, description, arg_schema, timeout_seconds, max_attempts, backoff_base_s, backoff_cap_s, batch_max,
  max_running, paused_at, on_lost, is_active
FROM job_definitions ORDER BY key
