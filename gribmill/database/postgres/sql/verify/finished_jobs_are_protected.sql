SELECT NULL::bigint AS job_id, 'the trigger ' || name || ' is missing: finished jobs and attempts can be rewritten' AS detail
FROM (VALUES ('a_jobs_keep_arguments'), ('jobs_changed_manually'), ('jobs_stay_as_they_ended'), ('job_attempts_stay_ended')) AS wanted (name)
WHERE name NOT IN (SELECT tgname FROM pg_trigger
  WHERE tgrelid IN ('jobs'::regclass, 'job_attempts'::regclass) AND tgenabled <> 'D')
