SELECT region, hour, bytes, built_at, generation, variables, lost_at FROM tiles
WHERE model_id = :model_id AND run_id = :run_id AND (:lost = 1 OR lost_at IS NULL) ORDER BY region, hour
