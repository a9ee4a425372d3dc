-- Before a claim, as a separate statement, so that the claim sees what was committed while this one waited for locks:
-- shares the lock that a reservation takes exclusively; takes the locks of types with a limit, and skips those that
-- another claim holds (`gribmill.busy`). Returns what has to be done first: jobs to settle, jobs to promote. Plans of
-- claims must use their indexes, even in a small table: a sort would lock groups that are not taken.
SELECT EXISTS (SELECT 1 FROM ended_parents) AS unsettled,
  EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now) AS due,
  EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global') AS has_rivals,
  -- include claims/parts/locks
