-- The next job of the tenant that follows the last one served, in order of names; wraps around.
SELECT j.id, j.claimant AS tenant_id FROM (
  SELECT (SELECT id FROM jobs INDEXED BY jobs_ready
    WHERE type = t.value AND (claimant <> 'global') = 1
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
      AND priority = :priority AND nullif(claimant, 'global') > :after
    ORDER BY nullif(claimant, 'global'), position, created_at, id LIMIT 1) AS id FROM json_each(:types) t
  UNION ALL SELECT (SELECT id FROM jobs INDEXED BY jobs_ready
    WHERE type = t.value AND (claimant <> 'global') = 1
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
      AND priority = :priority
    ORDER BY nullif(claimant, 'global'), position, created_at, id LIMIT 1) FROM json_each(:types) t
  UNION ALL SELECT (SELECT id FROM jobs INDEXED BY jobs_ready
    WHERE type = t.value AND (claimant <> 'global') = 0
      AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
      AND priority = :priority
    ORDER BY nullif(claimant, 'global'), position, created_at, id LIMIT 1) FROM json_each(:types) t) c
CROSS JOIN jobs j ON j.id = c.id
ORDER BY j.claimant <= :after, j.claimant, j.position, j.created_at, j.id LIMIT 1
