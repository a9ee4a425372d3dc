  pg_advisory_xact_lock_shared(7217, 1) IS NULL AS shares,
  set_config('enable_bitmapscan', 'off', true) || set_config('enable_sort', 'off', true) AS planner,
  set_config('gribmill.busy', CASE WHEN EXISTS (
      SELECT 1 FROM job_definitions WHERE key = ANY (:keys::text[]) AND (max_running IS NOT NULL OR resources <> '[]'))
    THEN gribmill_lock_limits(:keys::text[]) ELSE '' END, true) AS busy
