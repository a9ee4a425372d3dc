-- Dead letters with the state of their hour, counted together if they name one; args may have been written manually.
-- MATERIALIZED: otherwise each use of a value would read args again.
WITH found AS MATERIALIZED (
  SELECT id, type, dead_lettered_at, args::json AS args FROM jobs WHERE id = ANY (ARRAY(
    SELECT id FROM jobs WHERE status = 'failed' AND dead_lettered_at IS NOT NULL AND dead_lettered_at > :since LIMIT :limit))
), dead AS MATERIALIZED (
  SELECT id, type, dead_lettered_at, args ->> 'model_id' AS model_id, args ->> 'run_id' AS run_id, args ->> 'hour' AS hour
  FROM found
)
SELECT type, max(dead_lettered_at) AS dead_lettered_at, model_id, hour_state, count(*) AS n FROM (
  SELECT dead.*, (
    SELECT state FROM hours
    WHERE hours.model_id = dead.model_id AND hours.run_id = dead.run_id
      AND hours.hour = CASE WHEN dead.hour ~ '^[0-9]{1,4}$' THEN dead.hour::int END
  ) AS hour_state
  FROM dead
) AS judged
GROUP BY type, model_id, hour_state, CASE WHEN hour IS NULL THEN id END
