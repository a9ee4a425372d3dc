DELETE FROM worker_heartbeats WHERE last_heartbeat < :before AND id NOT IN (
  SELECT worker_id FROM jobs INDEXED BY jobs_lease WHERE status = 'processing' AND worker_id IS NOT NULL)
