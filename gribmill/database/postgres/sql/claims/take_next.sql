-- The next batch of `global`: one index probe per type, the best of their heads, its siblings. A group is locked with its
-- head, so that no other worker takes siblings of it at the same time. Where other tenants have ready jobs, they take
-- turns (see fair_claims.py), and nothing is taken here.
WITH open AS MATERIALIZED (
  SELECT d.key, d.batch_max, d.timeout_seconds,
    CASE WHEN d.command IS NOT NULL
      THEN json_build_object('command', d.command::json, 'schema', d.arg_schema::json)::text END AS command
  FROM job_definitions d
  WHERE d.key = ANY (ARRAY(SELECT json_array_elements_text(:types::json))) AND d.is_active = 1 AND d.paused_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM direct_reservations r
      WHERE r.status = 'ACTIVE' AND r.expires_at > :now AND (r.scope = '*' OR r.scope = d.key)
        AND NOT EXISTS (SELECT 1 FROM reservation_workers w
          WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id))
    AND (d.max_running IS NULL AND d.resources = '[]'
      OR d.key <> ALL (string_to_array(current_setting('gribmill.busy', true), E'\n'))
        AND (d.max_running IS NULL OR d.max_running > (
          SELECT count(DISTINCT batch_id) FROM jobs WHERE type = d.key AND status = 'processing'))
        AND (d.resources = '[]' OR NOT EXISTS (
          SELECT 1 FROM json_array_elements_text(d.resources::json) tag JOIN resource_limits r ON r.tag = tag.value
          WHERE r.most <= (
            SELECT count(DISTINCT b.batch_id) FROM jobs b JOIN job_definitions bd ON bd.key = b.type
            WHERE b.status = 'processing' AND bd.resources <> '[]' AND EXISTS (
              SELECT 1 FROM json_array_elements_text(bd.resources::json) bt WHERE bt.value = r.tag)))))
    AND NOT EXISTS (SELECT 1 FROM jobs
      WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id <> 'global')
), heads AS MATERIALIZED (
  SELECT h.*, open.key AS type, open.batch_max, open.timeout_seconds AS type_timeout, open.command
  FROM open CROSS JOIN LATERAL (
    SELECT id, group_key, tenant_id, retry_count, priority, position, created_at FROM jobs
    WHERE type = open.key AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id = 'global'
      AND (group_key IS NULL OR open.batch_max = 1
        OR pg_try_advisory_xact_lock(hashtextextended(type || ':' || group_key, 0)))
    ORDER BY priority DESC, position, created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) h
), head AS MATERIALIZED (
  SELECT *, id AS batch_id, true AS is_new,
    -- A job that has failed runs alone: if it crashes its executor again, no sibling pays for that.
    CASE WHEN retry_count = 0 THEN least(batch_max, coalesce(:batch_limit::int, batch_max)) - 1 ELSE 0 END AS more
  FROM heads ORDER BY priority DESC, position, created_at, id LIMIT 1
), siblings AS MATERIALIZED (
  SELECT s.id FROM head CROSS JOIN LATERAL (
    SELECT id FROM jobs
    WHERE type = head.type AND group_key = head.group_key AND group_key IS NOT NULL
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
      AND id <> head.id AND retry_count = 0 AND tenant_id = head.tenant_id
    ORDER BY priority DESC, position, created_at, id
    LIMIT head.more FOR UPDATE SKIP LOCKED) s
), claimed AS (
  UPDATE jobs j SET status = 'processing', worker_id = :worker_id, started_at = :now, attempt_no = j.attempt_no + 1,
    batch_id = (SELECT batch_id FROM head), lease_expires_at = :lease_expires_at
  WHERE j.id = ANY (ARRAY(SELECT id FROM head WHERE is_new UNION ALL SELECT id FROM siblings)) AND j.status = 'pending'
  RETURNING j.id, j.type, j.args, j.tenant_id, j.group_key, j.batch_id, j.attempt_no, j.retry_count, j.max_attempts,
    j.timeout_seconds, j.priority, j.position, j.created_at
), attempted AS (
  INSERT INTO job_attempts (job_id, attempt_no, worker_id, pid, started_at)
  SELECT id, attempt_no, :worker_id, :pid, :now FROM claimed
)
SELECT c.id, c.type, c.args, c.tenant_id, c.group_key, c.batch_id, c.attempt_no, c.retry_count, c.max_attempts,
  coalesce(c.timeout_seconds, head.type_timeout) AS timeout_seconds,
  CASE WHEN c.id = head.id THEN head.command END AS command
FROM claimed c CROSS JOIN head
ORDER BY c.id <> head.id, c.priority DESC, c.position, c.created_at, c.id
