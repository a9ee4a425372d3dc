-- Retries and snoozes whose wait started in the future: the clock has been set back since.
SELECT id, next_run_at, coalesce(changed_at, created_at) AS began_at FROM jobs
WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at > :now AND (attempt_no > 0 OR retry_of IS NOT NULL)
  AND coalesce(changed_at, created_at) > :now AND coalesce(changed_at, created_at) <= next_run_at
ORDER BY next_run_at LIMIT :limit
