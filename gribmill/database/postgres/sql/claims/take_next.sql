-- The next batch of `global`: one index probe per type, the best of their heads, its siblings. A group is locked with its
-- head, so that no other worker takes siblings of it at the same time. Where other tenants have ready jobs, they take
-- turns (see fair_claims.py), and nothing is taken here; nor while there are jobs to settle or to promote first: that is
-- what `claims/prepare` has found.
WITH open AS MATERIALIZED (
  -- include claims/parts/open
    AND current_setting('gribmill.hold', true) = ''
), heads AS MATERIALIZED (
  SELECT h.*, open.key AS type, open.batch_max, open.timeout_seconds AS type_timeout, open.command
  FROM open CROSS JOIN LATERAL (
    SELECT id, group_key, claimant, retry_count, priority, position, created_at FROM jobs
    WHERE type = open.key AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
      AND (group_key IS NULL OR open.batch_max = 1
        OR pg_try_advisory_xact_lock(hashtextextended(type || ':' || group_key, 0)))
    ORDER BY priority DESC, position, created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED) h
), head AS MATERIALIZED (
  SELECT *, id AS batch_id, true AS is_new,
    -- A job that has failed runs alone: if it crashes its executor again, no sibling is affected.
    CASE WHEN retry_count = 0 THEN least(batch_max, coalesce(:batch_limit::int, batch_max)) - 1 ELSE 0 END AS more
  FROM heads ORDER BY priority DESC, position, created_at, id LIMIT 1
-- include claims/parts/take_batch
