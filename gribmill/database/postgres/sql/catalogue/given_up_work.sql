-- Dead letters with the state of their hour; args may have been written manually.
SELECT type, dead_lettered_at, model_id, (
  SELECT state FROM hours
  WHERE hours.model_id = dead.model_id AND hours.run_id = dead.run_id AND hours.hour::text = dead.hour
) AS hour_state
FROM (
  SELECT type, dead_lettered_at, args::json ->> 'model_id' AS model_id, args::json ->> 'run_id' AS run_id,
    args::json ->> 'hour' AS hour
  FROM jobs WHERE status = 'failed' AND dead_lettered_at IS NOT NULL AND dead_lettered_at > :since LIMIT :limit
) AS dead
