SELECT region, hour, bytes, built_at FROM tiles WHERE model_id = :model_id AND run_id = :run_id ORDER BY region, hour
