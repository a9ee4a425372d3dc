-- A separate statement before a claim, so that the claim sees what was committed while this one waited for locks.
-- First it records which of the jobs `:ended`, completed by an earlier statement of the turn, have dependents.
-- Takes a shared lock that conflicts with reservations, and the locks of types with a limit, except those that another
-- claim holds (`gribmill.busy`). Returns what must be done first: jobs to settle, jobs to promote, turns of other
-- tenants. If there is any, the claim takes nothing (`gribmill.hold`). Claims must use their indexes even in a small
-- table: a sort would lock groups that are not taken.
SELECT found.*,
  set_config('gribmill.hold', CASE WHEN found.has_rivals OR :settled = 0 AND (found.unsettled OR found.due)
    THEN 'yes' ELSE '' END, true) AS hold,
  -- include claims/parts/locks
FROM (SELECT EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = ANY (:ended::bigint[]))
    AND gribmill_note_ended(:ended::bigint[])
    OR EXISTS (SELECT 1 FROM ended_parents) AS unsettled,
  EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now) AS due,
  EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global') AS has_rivals
  OFFSET 0) AS found
