-- Dead letters with the state of their hour, counted together if they name one; args may have been written manually.
SELECT type, max(dead_lettered_at) AS dead_lettered_at, model_id, hour_state, count(*) AS n FROM (
  SELECT id, type, dead_lettered_at, model_id, hour, (
    SELECT state FROM hours
    WHERE hours.model_id = dead.model_id AND hours.run_id = dead.run_id AND hours.hour = dead.hour
  ) AS hour_state
  FROM (
    SELECT id, type, dead_lettered_at,
      CASE WHEN json_valid(args) AND json_type(args, '$.model_id') = 'text' THEN json_extract(args, '$.model_id') END
        AS model_id,
      CASE WHEN json_valid(args) AND json_type(args, '$.run_id') = 'text' THEN json_extract(args, '$.run_id') END AS run_id,
      CASE WHEN json_valid(args) AND json_type(args, '$.hour') = 'integer' THEN json_extract(args, '$.hour') END AS hour
    FROM jobs INDEXED BY jobs_dead
    WHERE status = 'failed' AND dead_lettered_at IS NOT NULL AND dead_lettered_at > :since LIMIT :limit
  ) AS dead
)
GROUP BY type, model_id, hour_state, CASE WHEN hour IS NULL THEN id END
