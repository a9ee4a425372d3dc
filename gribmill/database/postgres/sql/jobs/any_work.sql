-- Whether a claim might find something, without taking locks.
SELECT 1 WHERE EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global')
  OR EXISTS (SELECT 1 FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global')
  OR EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now)
  OR EXISTS (SELECT 1 FROM ended_parents)
