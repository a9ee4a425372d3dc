-- A tile of an earlier generation than the hour's does not count: the hour has newer messages. The hour is locked: if
-- two tiles end at the same time, the later transaction sees both and finishes the hour.
WITH of_hour AS MATERIALIZED (
  SELECT generation FROM hours WHERE model_id = :model_id AND run_id = :run_id AND hour = :hour FOR UPDATE
)
INSERT INTO tiles (model_id, run_id, region, hour, bytes, generation, variables, built_at)
SELECT :model_id, :run_id, :region, :hour, :bytes, :generation, :variables, :now
WHERE :generation >= coalesce((SELECT generation FROM of_hour), 0)
ON CONFLICT (model_id, run_id, region, hour) DO UPDATE SET bytes = excluded.bytes, built_at = excluded.built_at,
  generation = excluded.generation, variables = excluded.variables, lost_at = NULL
WHERE excluded.generation >= tiles.generation
