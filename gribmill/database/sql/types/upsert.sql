INSERT INTO job_definitions (key, description, arg_schema, default_args, timeout_seconds, max_attempts, backoff_base_s,
  backoff_cap_s, backoff_jitter, batch_max, max_running, lane, resources, on_lost, retry_as, poll_limit, queue_order,
  command, declared,
  overrides, created_at, updated_at)
VALUES (:key, :description, :arg_schema, :default_args, :timeout_seconds, :max_attempts, :backoff_base_s,
  :backoff_cap_s, :backoff_jitter, :batch_max, :max_running, :lane, :resources, :on_lost, :retry_as, :poll_limit,
  :queue_order, :command, :declared,
  :overrides, :now, :now)
ON CONFLICT (key) DO UPDATE SET description = excluded.description, arg_schema = excluded.arg_schema,
  default_args = excluded.default_args, timeout_seconds = excluded.timeout_seconds, max_attempts = excluded.max_attempts,
  backoff_base_s = excluded.backoff_base_s, backoff_cap_s = excluded.backoff_cap_s,
  backoff_jitter = excluded.backoff_jitter, batch_max = excluded.batch_max, max_running = excluded.max_running,
  lane = excluded.lane, resources = excluded.resources, on_lost = excluded.on_lost, retry_as = excluded.retry_as,
  poll_limit = excluded.poll_limit, queue_order = excluded.queue_order, command = excluded.command, declared = excluded.declared,
  overrides = excluded.overrides, updated_at = excluded.updated_at
