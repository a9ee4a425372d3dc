UPDATE hours SET regions = (SELECT json_group_array(value) FROM json_each(regions) WHERE value <> :region)
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND regions IS NOT NULL
