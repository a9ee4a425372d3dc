SELECT state FROM runs WHERE model_id = :model_id AND run_id = :run_id
