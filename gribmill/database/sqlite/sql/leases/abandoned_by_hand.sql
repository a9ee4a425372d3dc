SELECT j.id, j.type, j.worker_id, j.attempt_no, j.retry_count, j.max_attempts, j.cancel_requested_at IS NOT NULL AS cancel_requested,
  j.lease_expires_at
FROM jobs j INDEXED BY jobs_lease LEFT JOIN worker_heartbeats w ON w.id = j.worker_id
  LEFT JOIN job_definitions d ON d.key = j.type
WHERE j.status = 'processing' AND j.lease_expires_at IS NULL
  AND julianday(max(coalesce(w.last_heartbeat, ''), coalesce(j.started_at, j.created_at)))
      + coalesce(d.timeout_seconds, 3600) / 86400.0 <= julianday(:now)
LIMIT :limit
