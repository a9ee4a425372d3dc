INSERT INTO tiles (model_id, run_id, region, hour, bytes, built_at)
VALUES (:model_id, :run_id, :region, :hour, :bytes, :now)
ON CONFLICT (model_id, run_id, region, hour) DO UPDATE SET bytes = excluded.bytes, built_at = excluded.built_at
