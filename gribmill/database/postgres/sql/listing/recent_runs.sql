SELECT j.type, j.status,
  (
    -- include listing/parts/first_wait
  )::float8 AS wait_seconds,
  extract(epoch FROM j.completed_at - j.started_at)::float8 AS run_seconds
FROM jobs j
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY j.completed_at DESC LIMIT 100000
