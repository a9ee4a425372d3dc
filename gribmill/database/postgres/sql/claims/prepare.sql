-- Before a claim, as a separate statement, so that the claim sees what was committed while this one waited for locks:
-- promotes what is due; shares the lock that a reservation takes alone; takes the locks of types with a limit, and
-- leaves those out which another claim has at the moment (`gribmill.busy`). The plans of claims must follow their
-- indexes, also in a small table: a sort would lock groups that are not taken.
WITH promoted AS (
  UPDATE jobs SET ready_at = CASE WHEN attempt_no = 0 THEN next_run_at ELSE ready_at END, next_run_at = NULL,
    -- Those of types with `queue_order = due` go behind the jobs that wait, in the order of their times.
    position = CASE WHEN position >= 0 AND type IN (SELECT key FROM job_definitions WHERE queue_order = 'due') THEN
      (SELECT coalesce(max(m.position), 0) FROM jobs m
        WHERE m.status = 'pending' AND m.position <> 0 AND m.position > 0 AND m.priority = jobs.priority)
      + 100 * (SELECT 1 + count(*) FROM jobs e
        WHERE e.status = 'pending' AND e.next_run_at IS NOT NULL AND e.priority = jobs.priority
          AND (e.next_run_at, e.id) < (jobs.next_run_at, jobs.id))
      ELSE position END
  WHERE id = ANY (ARRAY(
    SELECT id FROM jobs WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now
    ORDER BY next_run_at LIMIT 500 FOR UPDATE SKIP LOCKED))
)
SELECT EXISTS (SELECT 1 FROM ended_parents) AS unsettled,
  EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global')
  OR EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now AND claimant <> 'global') AS has_rivals,
  -- include claims/parts/locks
