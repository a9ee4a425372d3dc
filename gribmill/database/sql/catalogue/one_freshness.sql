SELECT * FROM freshness WHERE model_id = :model_id AND region = :region
