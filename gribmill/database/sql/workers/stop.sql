UPDATE worker_heartbeats SET state = 'stopped' WHERE id = :worker_id AND state <> 'stopped'
