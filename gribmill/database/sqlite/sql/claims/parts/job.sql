SELECT j.id, j.type, j.args, j.tenant_id, j.group_key, j.attempt_no + 1 AS attempt_no, j.retry_count, j.max_attempts,
  coalesce(j.timeout_seconds, d.timeout_seconds) AS timeout_seconds, d.batch_max,
  iif(d.command IS NULL, NULL, json_object('command', json(d.command), 'schema', json(d.arg_schema))) AS command, j.claimant
