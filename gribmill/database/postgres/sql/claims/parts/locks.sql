  pg_advisory_xact_lock_shared(7217, 1) IS NULL AS shares,
  set_config('enable_bitmapscan', 'off', true) || set_config('enable_sort', 'off', true) AS planner,
  set_config('gribmill.busy', coalesce((
    SELECT string_agg(d.key, E'\n') FROM job_definitions d
    WHERE d.key = ANY (ARRAY(SELECT json_array_elements_text(:types::json)))
      AND (d.max_running IS NOT NULL AND NOT pg_try_advisory_xact_lock(7218, hashtext(d.key))
        OR d.resources <> '[]' AND EXISTS (
          SELECT 1 FROM json_array_elements_text(d.resources::json) tag
          WHERE NOT pg_try_advisory_xact_lock(7219, hashtext(tag))))), ''), true) AS busy
