), siblings AS MATERIALIZED (
  SELECT s.id FROM head CROSS JOIN LATERAL (
    SELECT id FROM jobs
    WHERE type = head.type AND group_key = head.group_key AND group_key IS NOT NULL
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
      AND id <> head.id AND retry_count = 0 AND claimant = head.claimant
    ORDER BY priority DESC, position, created_at, id
    LIMIT head.more FOR UPDATE SKIP LOCKED) s
), claimed AS (
  UPDATE jobs j SET status = 'processing', worker_id = :worker_id, started_at = :now, attempt_no = j.attempt_no + 1,
    batch_id = (SELECT batch_id FROM head), lease_expires_at = :lease_expires_at,
    steps = j.steps + (j.tenant_id = 'global')::int
  WHERE j.id = ANY (ARRAY(SELECT id FROM head WHERE is_new UNION ALL SELECT id FROM siblings)) AND j.status = 'pending'
  RETURNING j.id, j.type, j.args, j.tenant_id, j.group_key, j.batch_id, j.attempt_no, j.retry_count, j.max_attempts,
    j.timeout_seconds, j.claimant, j.priority, j.position, j.created_at
), attempted AS (
  INSERT INTO job_attempts (job_id, attempt_no, worker_id, pid, started_at)
  SELECT id, attempt_no, :worker_id, :pid, :now FROM claimed
)
SELECT c.id, c.type, c.args, c.tenant_id, c.group_key, c.batch_id, c.attempt_no, c.retry_count, c.max_attempts,
  coalesce(c.timeout_seconds, head.type_timeout) AS timeout_seconds,
  CASE WHEN c.id = head.id THEN head.command END AS command, c.claimant
FROM claimed c CROSS JOIN head
ORDER BY c.id <> head.id, c.priority DESC, c.position, c.created_at, c.id
