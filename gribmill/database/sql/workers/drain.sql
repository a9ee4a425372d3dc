UPDATE worker_heartbeats SET state = 'draining' WHERE id = :worker_id AND state = 'active'
