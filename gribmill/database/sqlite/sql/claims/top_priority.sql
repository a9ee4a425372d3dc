SELECT max(top) AS priority FROM (
  SELECT (SELECT priority FROM jobs INDEXED BY jobs_ready
    WHERE type = t.value AND (claimant <> 'global') = 0
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
    ORDER BY priority DESC LIMIT 1) AS top FROM json_each(:types) t
  UNION ALL SELECT (SELECT priority FROM jobs INDEXED BY jobs_ready
    WHERE type = t.value AND (claimant <> 'global') = 1
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
    ORDER BY priority DESC LIMIT 1) FROM json_each(:types) t)
