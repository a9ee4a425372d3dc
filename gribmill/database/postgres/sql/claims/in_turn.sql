-- The job of the first tenant after the one that was served last, by name; beginning again where none follows.
SELECT c.id, c.tenant_id FROM json_array_elements_text(:types::json) t(type) CROSS JOIN LATERAL (
  (SELECT id, tenant_id, position, created_at FROM jobs
   WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id <> 'global'
     AND priority = :priority AND tenant_id > :after
   ORDER BY tenant_id, position, created_at, id LIMIT 1)
  UNION ALL (SELECT id, tenant_id, position, created_at FROM jobs
   WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id <> 'global'
     AND priority = :priority
   ORDER BY tenant_id, position, created_at, id LIMIT 1)
  UNION ALL (SELECT id, tenant_id, position, created_at FROM jobs
   WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id = 'global'
     AND priority = :priority
   ORDER BY position, created_at, id LIMIT 1)) c
ORDER BY c.tenant_id <= :after, c.tenant_id, c.position, c.created_at, c.id LIMIT 1
