DELETE FROM tiles WHERE model_id = :model_id AND run_id = :run_id AND region = :region
