-- The next time at which a delayed job becomes due.
SELECT min(due) AS due FROM (
  SELECT min(next_run_at) AS due FROM jobs INDEXED BY jobs_due WHERE status = 'pending' AND next_run_at IS NOT NULL
  UNION ALL SELECT min(expires_at) FROM direct_reservations INDEXED BY direct_reservations_one
  WHERE status = 'ACTIVE' AND expires_at > :now) AS times
