SELECT substr(j.completed_at, 1, 16) AS minute,
  sum(CASE WHEN j.status = 'completed' THEN 1 ELSE 0 END) AS succeeded,
  sum(CASE WHEN j.status = 'failed' THEN 1 ELSE 0 END) AS failed,
  avg(
    -- include listing/parts/first_wait
  ) * 86400.0 AS wait_seconds,
  avg(julianday(j.completed_at) - julianday(j.started_at)) * 86400.0 AS run_seconds
FROM jobs j INDEXED BY jobs_finished
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND j.status IN ('completed','failed')
  AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
GROUP BY 1 ORDER BY 1
