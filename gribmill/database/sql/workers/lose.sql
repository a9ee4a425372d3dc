UPDATE worker_heartbeats SET lost_at = :now WHERE id = :worker_id AND lost_at IS NULL
