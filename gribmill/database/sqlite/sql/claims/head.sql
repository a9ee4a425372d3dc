-- The next job of `global`, whether other tenants have ready jobs too (then they take turns, see fair_claims.py), and
-- whether some jobs are due, or have ended and not been settled.
-- include claims/parts/job
  , EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_ready_of
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global') AS has_rivals,
  EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_due
    WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now)
  OR EXISTS (SELECT 1 FROM ended_parents) AS has_due
FROM json_each(:types) t
-- include claims/parts/open
CROSS JOIN jobs j ON j.id = (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE type = t.value AND (claimant <> 'global') = 0
    AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  ORDER BY priority DESC, nullif(claimant, 'global'), position, created_at, id LIMIT 1)
ORDER BY j.priority DESC, j.position, j.created_at, j.id LIMIT 1
