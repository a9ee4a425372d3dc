UPDATE hours SET regions = (
  SELECT coalesce(json_agg(value), '[]') FROM json_array_elements_text(regions::json) WHERE value <> :region)::text
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND regions IS NOT NULL
