-- Before a claim, as a separate statement, so that the claim sees what was committed while this one waited for locks:
-- shares the lock that a reservation takes alone; takes the locks of types with a limit, and leaves those out which
-- another claim has at the moment (`gribmill.busy`). Says what has to be done first: jobs to settle, jobs to promote. The
-- plans of claims must follow their indexes, also in a small table: a sort would lock groups that are not taken.
SELECT EXISTS (SELECT 1 FROM ended_parents) AS unsettled,
  EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now) AS due,
  EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global') AS has_rivals,
  -- include claims/parts/locks
