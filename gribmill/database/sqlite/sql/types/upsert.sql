INSERT INTO job_definitions (key, description, arg_schema, timeout_seconds, max_attempts, backoff_base_s,
  backoff_cap_s, backoff_jitter, batch_max, max_running, on_lost, poll_limit, created_at, updated_at)
VALUES (:key, :description, :arg_schema, :timeout_seconds, :max_attempts, :backoff_base_s,
  :backoff_cap_s, :backoff_jitter, :batch_max, :max_running, :on_lost, :poll_limit, :now, :now)
ON CONFLICT (key) DO UPDATE SET description = excluded.description, arg_schema = excluded.arg_schema,
  timeout_seconds = excluded.timeout_seconds, max_attempts = excluded.max_attempts,
  backoff_base_s = excluded.backoff_base_s, backoff_cap_s = excluded.backoff_cap_s, backoff_jitter = excluded.backoff_jitter, batch_max = excluded.batch_max,
  max_running = excluded.max_running, on_lost = excluded.on_lost, poll_limit = excluded.poll_limit, updated_at = excluded.updated_at
