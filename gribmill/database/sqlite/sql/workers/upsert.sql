INSERT INTO workers (id, last_heartbeat, current_job_id, hostname, version, types, running_count, state, metadata, started_at)
VALUES (:id, :now, :current_job_id, :hostname, :version, :types, :running_count, :state, :metadata, :now)
ON CONFLICT (id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat, current_job_id = excluded.current_job_id,
  types = excluded.types, running_count = excluded.running_count, state = excluded.state, lost_at = NULL
