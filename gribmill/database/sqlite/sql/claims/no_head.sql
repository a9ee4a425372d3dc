-- The same facts as `head`, for when `global` has no job to claim.
SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_ready_of
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global') AS has_rivals,
  EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_due
    WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now)
  OR EXISTS (SELECT 1 FROM ended_parents) AS has_due
