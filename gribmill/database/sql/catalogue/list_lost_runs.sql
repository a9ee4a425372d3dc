SELECT DISTINCT region, run_id FROM tiles WHERE model_id = :model_id AND lost_at IS NOT NULL
