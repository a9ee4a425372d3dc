SELECT j.type, j.status,
  (julianday(a.started_at) - julianday(coalesce(a.ready_at, j.ready_at, j.created_at))) * 86400.0 AS wait_seconds,
  (julianday(j.completed_at) - julianday(j.started_at)) * 86400.0 AS run_seconds
FROM jobs j INDEXED BY jobs_finished LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt_no = 1
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY j.completed_at DESC LIMIT 100000
