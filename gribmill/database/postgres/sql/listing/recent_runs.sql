SELECT j.type, j.status,
  extract(epoch FROM a.started_at - coalesce(a.ready_at, j.ready_at, j.created_at))::float8 AS wait_seconds,
  extract(epoch FROM j.completed_at - j.started_at)::float8 AS run_seconds
FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt_no = 1
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY j.completed_at DESC LIMIT 100000
