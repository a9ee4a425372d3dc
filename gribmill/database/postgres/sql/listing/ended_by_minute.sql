SELECT to_char(j.completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS minute,
  count(*) FILTER (WHERE j.status = 'completed') AS succeeded,
  count(*) FILTER (WHERE j.status = 'failed') AS failed,
  avg(extract(epoch FROM a.started_at - coalesce(a.ready_at, j.ready_at, j.created_at)))::float8 AS wait_seconds,
  avg(extract(epoch FROM j.completed_at - j.started_at))::float8 AS run_seconds
FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt_no = 1
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND j.status IN ('completed','failed')
  AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
GROUP BY 1 ORDER BY 1
