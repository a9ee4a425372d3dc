SELECT * FROM freshness ORDER BY model_id, region
