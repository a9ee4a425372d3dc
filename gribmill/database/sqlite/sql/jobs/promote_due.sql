UPDATE jobs SET ready_at = max(coalesce(ready_at, next_run_at), next_run_at), next_run_at = NULL WHERE id IN (
  SELECT id FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now
  ORDER BY next_run_at LIMIT 500)
