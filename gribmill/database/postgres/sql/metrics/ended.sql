-- Jobs that ended since then, one row per attempt; a job without attempts has one row.
SELECT j.id AS job_id, j.tenant_id, j.type, j.status, j.completed_at,
  (j.dead_lettered_at IS NOT NULL)::int AS dead_lettered,
  CASE WHEN j.type = 'build_tile' THEN j.args END AS args,
  a.attempt_no, a.status AS attempt_status, a.downloaded_bytes, a.written_bytes,
  (coalesce(a.status IN ('failed','timeout','lost')
    AND NOT (j.status IN ('failed','cancelled') AND a.attempt_no = j.attempt_no AND NOT EXISTS (
      SELECT 1 FROM jobs n WHERE n.retry_of = j.id AND n.retry_of IS NOT NULL AND n.source = 'system')), false))::int AS retried,
  greatest(0, extract(epoch FROM a.started_at - coalesce(a.ready_at, j.ready_at, j.created_at)))::float8 AS wait_seconds,
  greatest(0, extract(epoch FROM a.finished_at - a.started_at))::float8 AS run_seconds
FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id
WHERE j.completed_at >= :since AND j.completed_at IS NOT NULL
ORDER BY j.completed_at, j.id, a.attempt_no LIMIT :limit
