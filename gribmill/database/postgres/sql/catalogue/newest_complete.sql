SELECT max(r.run_id) AS run_id FROM runs r
WHERE r.model_id = :model_id AND r.final = 1 AND json_array_length(r.hours::json) > 0
  AND NOT EXISTS (SELECT 1 FROM json_array_elements_text(r.hours::json) wanted WHERE NOT EXISTS (
    SELECT 1 FROM tiles t WHERE t.model_id = :model_id AND t.run_id = r.run_id AND t.region = :region
      AND t.hour = wanted.value::int AND t.lost_at IS NULL))
