INSERT INTO worker_heartbeats (id, last_heartbeat, hostname, version, types, state, metadata, started_at)
VALUES (:id, :now, :hostname, :version, :types, :state, :metadata, :now)
ON CONFLICT (id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat,
  -- Heartbeats for one attempt name no types.
  types = CASE WHEN excluded.types = '[]' THEN worker_heartbeats.types ELSE excluded.types END,
  -- An operator may have asked it to drain since its last heartbeat.
  state = CASE WHEN worker_heartbeats.state = 'draining' AND excluded.state = 'active' THEN 'draining' ELSE excluded.state END,
  metadata = excluded.metadata, lost_at = NULL
