SELECT key, description, arg_schema, default_args, timeout_seconds, max_attempts, backoff_base_s, backoff_cap_s, backoff_jitter,
  batch_max, max_running, lane, resources, on_lost, retry_as, poll_limit, queue_order, command, declared, overrides, version,
  paused_at IS NOT NULL AS is_paused, is_active, created_at, updated_at
FROM job_definitions ORDER BY key
