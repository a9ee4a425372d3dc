SELECT id, type, args, tenant_id, group_key, :batch_id AS batch_id, attempt_no + 1 AS attempt_no, retry_count, max_attempts,
  coalesce(timeout_seconds, (SELECT d.timeout_seconds FROM job_definitions d WHERE d.key = :type)) AS timeout_seconds,
  NULL AS command, claimant
FROM jobs INDEXED BY jobs_group
WHERE type = :type AND group_key = :group_key AND status = 'pending' AND next_run_at IS NULL
  AND deps_left = 0 AND group_key IS NOT NULL AND id <> :head_id AND retry_count = 0
  AND claimant = :claimant
ORDER BY priority DESC, position, created_at, id LIMIT :more
