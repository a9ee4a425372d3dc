UPDATE hours SET state = 'built', built_at = :now
WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state = 'ingested' AND regions IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM json_each(hours.regions) wanted WHERE NOT EXISTS (
    SELECT 1 FROM tiles t WHERE t.model_id = :model_id AND t.run_id = :run_id AND t.region = wanted.value
      AND t.hour = :hour AND t.lost_at IS NULL))
