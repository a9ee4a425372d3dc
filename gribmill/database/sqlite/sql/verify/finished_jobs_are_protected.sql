SELECT NULL AS job_id, 'the trigger ' || column1 || ' is missing: finished jobs and attempts can be rewritten' AS detail
FROM (VALUES ('jobs_keep_arguments'), ('jobs_changed'), ('jobs_stay_ended'), ('jobs_stay_as_they_ended'),
  ('jobs_stay_as_they_came'), ('job_attempts_changed'), ('job_attempts_stay_ended'), ('job_attempts_keep_log'))
WHERE column1 NOT IN (SELECT name FROM sqlite_master WHERE type = 'trigger')
