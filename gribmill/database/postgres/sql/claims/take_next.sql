-- Claims the next batch of `global`: one index probe per type, the best of these heads, and its siblings. The batching
-- key is locked with the head, so that no other worker claims siblings at the same time. Takes nothing if
-- `claims/prepare` found jobs to settle or promote first, or other tenants with ready jobs, which take turns (see
-- fair_claims.py).
WITH head AS MATERIALIZED (
  SELECT h.id, open.key AS type, h.group_key, h.claimant, h.id AS batch_id, true AS is_new,
    -- A job that has failed runs alone: if it crashes its executor again, no sibling is affected.
    CASE WHEN h.retry_count = 0 THEN least(open.batch_max, coalesce(:batch_limit::int, open.batch_max)) - 1 ELSE 0 END
      AS more,
    open.timeout_seconds AS type_timeout, open.command
  -- Only open types are probed, since a probe locks.
  FROM (
  -- include claims/parts/open
    AND d.key = ANY (:keys::text[]) AND current_setting('gribmill.hold', true) = '' OFFSET 0
  ) AS open CROSS JOIN LATERAL (
    SELECT id, group_key, claimant, retry_count, priority, position, created_at FROM jobs
    WHERE type = open.key AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
      AND (group_key IS NULL OR open.batch_max = 1
        OR pg_try_advisory_xact_lock(hashtextextended(type || ':' || group_key, 0)))
    ORDER BY priority DESC, position, created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) h
  ORDER BY h.priority DESC, h.position, h.created_at, h.id LIMIT 1
-- include claims/parts/take_batch
