-- The columns of `Claimed`, in its order, and how many jobs of the type may be claimed together.
SELECT j.id, j.type, j.args, j.tenant_id, j.group_key, j.id AS batch_id, j.attempt_no + 1 AS attempt_no, j.retry_count,
  j.max_attempts, coalesce(j.timeout_seconds, d.timeout_seconds) AS timeout_seconds,
  iif(d.command IS NULL, NULL, json_object('command', json(d.command), 'schema', json(d.arg_schema))) AS command,
  j.claimant, d.batch_max
