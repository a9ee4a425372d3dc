SELECT 1 WHERE EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_due
    WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now)
  OR EXISTS (SELECT 1 FROM ended_parents)
