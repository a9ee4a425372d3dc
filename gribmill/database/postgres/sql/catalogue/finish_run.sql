UPDATE runs SET state = 'complete', completed_at = :now, updated_at = :now
WHERE model_id = :model_id AND run_id = :run_id AND state <> 'complete' AND final = 1
  AND NOT EXISTS (SELECT 1 FROM json_array_elements_text(runs.hours::json) wanted WHERE NOT EXISTS (
    SELECT 1 FROM hours h WHERE h.model_id = :model_id AND h.run_id = :run_id AND h.hour = wanted.value::int
      AND h.state = 'built'))
