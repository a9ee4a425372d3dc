SELECT hour FROM hours WHERE model_id = :model_id AND run_id = :run_id AND state = 'built' AND keep_grib = 0
