-- Also locks the run, so that `finish_run`, a separate statement, sees the results of other hours.
WITH built AS (
  UPDATE hours SET state = 'built', built_at = :now
  WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour AND state = 'ingested' AND regions IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM json_array_elements_text(hours.regions::json) wanted WHERE NOT EXISTS (
      SELECT 1 FROM tiles t WHERE t.model_id = :model_id AND t.run_id = :run_id AND t.region = wanted.value
        AND t.hour = :hour AND t.lost_at IS NULL))
  RETURNING model_id, run_id
), locked AS (
  SELECT 1 FROM runs r WHERE (r.model_id, r.run_id) IN (SELECT model_id, run_id FROM built) FOR UPDATE
)
SELECT 1 FROM built WHERE (SELECT count(*) FROM locked) >= 0
