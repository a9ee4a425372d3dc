SELECT key, description, arg_schema, timeout_seconds, max_attempts, backoff_base_s, backoff_cap_s, backoff_jitter, batch_max,
  max_running, on_lost, poll_limit, paused_at IS NOT NULL AS is_paused, is_active
FROM job_definitions ORDER BY key
