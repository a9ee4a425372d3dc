SELECT state, last_heartbeat FROM worker_heartbeats WHERE id = :worker_id
