SELECT j.type, j.status,
  (
    -- include listing/parts/first_wait
  ) * 86400.0 AS wait_seconds,
  (julianday(j.completed_at) - julianday(j.started_at)) * 86400.0 AS run_seconds
FROM jobs j INDEXED BY jobs_finished
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY j.completed_at DESC LIMIT 100000
