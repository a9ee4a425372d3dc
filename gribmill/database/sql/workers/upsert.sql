INSERT INTO worker_heartbeats (id, last_heartbeat, hostname, version, types, state, metadata, started_at)
VALUES (:id, :now, :hostname, :version, :types, :state, :metadata, :now)
ON CONFLICT (id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat, types = excluded.types, state = excluded.state,
  metadata = excluded.metadata, lost_at = NULL
