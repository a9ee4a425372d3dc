SELECT DISTINCT args::json ->> 'model_id' AS model_id, args::json ->> 'run_id' AS run_id FROM jobs
WHERE status IN ('pending','processing')
  AND json_typeof(args::json) = 'object'
  AND json_typeof(args::json -> 'model_id') = 'string' AND json_typeof(args::json -> 'run_id') = 'string'
