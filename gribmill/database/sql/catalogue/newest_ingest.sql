SELECT max(ingested_at) AS ingested_at FROM hours WHERE model_id = :model_id AND run_id = :run_id
