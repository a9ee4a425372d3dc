SELECT id FROM worker_heartbeats
WHERE state <> 'stopped' AND lost_at IS NULL AND last_heartbeat < :before ORDER BY id LIMIT :limit
