SELECT to_char(minute AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS minute, succeeded, failed, wait_seconds, run_seconds
FROM (
  SELECT date_trunc('minute', j.completed_at) AS minute,
    count(*) FILTER (WHERE j.status = 'completed') AS succeeded,
    count(*) FILTER (WHERE j.status = 'failed') AS failed,
    avg(
      -- include listing/parts/first_wait
    )::float8 AS wait_seconds,
    avg(extract(epoch FROM j.completed_at - j.started_at))::float8 AS run_seconds
  FROM jobs j
  WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL AND j.status IN ('completed','failed')
    AND (j.tenant_id = :tenant_id OR :tenant_id IS NULL)
  GROUP BY 1) AS ended
ORDER BY 1
