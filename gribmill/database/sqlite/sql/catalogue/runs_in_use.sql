SELECT DISTINCT json_extract(args, '$.model_id') AS model_id, json_extract(args, '$.run_id') AS run_id FROM jobs
WHERE id IN (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_waiting
  WHERE status = 'pending' AND deps_left > 0 AND next_run_at IS NULL
  UNION ALL SELECT id FROM jobs INDEXED BY jobs_lease WHERE status = 'processing')
  AND json_valid(args) AND json_type(args, '$.model_id') = 'text' AND json_type(args, '$.run_id') = 'text'
