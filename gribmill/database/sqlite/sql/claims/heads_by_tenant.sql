-- The next job of each type of every tenant that may start one.
WITH RECURSIVE ready(name) AS (
  SELECT min(claimant) FROM jobs INDEXED BY jobs_ready_of
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
  UNION ALL SELECT (SELECT min(claimant) FROM jobs INDEXED BY jobs_ready_of
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
      AND claimant > ready.name) FROM ready WHERE name IS NOT NULL)
SELECT j.id, j.claimant AS tenant_id, j.priority, j.position, j.created_at FROM (
  SELECT (SELECT id FROM jobs INDEXED BY jobs_ready_of
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
      AND claimant = ready.name AND type = t.value
    ORDER BY priority DESC, position, created_at, id LIMIT 1) AS id
  FROM ready CROSS JOIN json_each(:types) t
  WHERE name IS NOT NULL AND name NOT IN (SELECT value FROM json_each(:held))
  UNION ALL SELECT (SELECT id FROM jobs INDEXED BY jobs_ready
    WHERE type = t.value AND (claimant <> 'global') = 0
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
    ORDER BY priority DESC, nullif(claimant, 'global'), position, created_at, id LIMIT 1) FROM json_each(:types) t) c
CROSS JOIN jobs j ON j.id = c.id
