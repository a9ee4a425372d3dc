-- A partial index covers each branch.
WITH active AS MATERIALIZED (
  SELECT args::json AS args FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
  UNION ALL SELECT args::json FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
  UNION ALL SELECT args::json FROM jobs
  WHERE status = 'pending' AND next_run_at IS NOT NULL
  UNION ALL SELECT args::json FROM jobs
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL
  UNION ALL SELECT args::json FROM jobs WHERE status = 'processing')
SELECT DISTINCT args ->> 'model_id' AS model_id, args ->> 'run_id' AS run_id FROM active
WHERE json_typeof(args) = 'object'
  AND json_typeof(args -> 'model_id') = 'string' AND json_typeof(args -> 'run_id') = 'string'
