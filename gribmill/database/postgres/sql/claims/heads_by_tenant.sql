-- The next job of each type of every tenant that may start one.
WITH RECURSIVE ready(name) AS (
  (SELECT claimant FROM jobs WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
   ORDER BY claimant LIMIT 1)
  UNION ALL SELECT (SELECT claimant FROM jobs
    WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global' AND claimant > ready.name
    ORDER BY claimant LIMIT 1) FROM ready WHERE name IS NOT NULL)
SELECT c.* FROM ready CROSS JOIN json_array_elements_text(:types::json) t(type) CROSS JOIN LATERAL (
  SELECT id, claimant AS tenant_id, priority, position, created_at FROM jobs
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global' AND claimant = ready.name
    AND type = t.type
  ORDER BY priority DESC, position, created_at, id LIMIT 1) c
WHERE ready.name IS NOT NULL AND ready.name <> ALL (ARRAY(SELECT json_array_elements_text(:held::json)))
UNION ALL SELECT c.* FROM json_array_elements_text(:types::json) t(type) CROSS JOIN LATERAL (
  SELECT id, claimant AS tenant_id, priority, position, created_at FROM jobs
  WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
  ORDER BY priority DESC, position, created_at, id LIMIT 1) c
