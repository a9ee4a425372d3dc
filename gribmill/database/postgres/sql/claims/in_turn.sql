-- The next job of the tenant that follows the last one served, in order of names; wraps around.
SELECT c.id, c.claimant AS tenant_id FROM json_array_elements_text(:types::json) t(type) CROSS JOIN LATERAL (
  (SELECT id, claimant, position, created_at FROM jobs
   WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
     AND priority = :priority AND claimant > :after
   ORDER BY claimant, position, created_at, id LIMIT 1)
  UNION ALL (SELECT id, claimant, position, created_at FROM jobs
   WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
     AND priority = :priority
   ORDER BY claimant, position, created_at, id LIMIT 1)
  UNION ALL (SELECT id, claimant, position, created_at FROM jobs
   WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
     AND priority = :priority
   ORDER BY position, created_at, id LIMIT 1)) c
ORDER BY c.claimant <= :after, c.claimant, c.position, c.created_at, c.id LIMIT 1
