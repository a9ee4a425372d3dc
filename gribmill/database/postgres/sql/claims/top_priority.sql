SELECT max(top.priority) AS priority FROM json_array_elements_text(:types::json) t(type) CROSS JOIN LATERAL (
  (SELECT priority FROM jobs WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global'
   ORDER BY priority DESC LIMIT 1)
  UNION ALL (SELECT priority FROM jobs WHERE type = t.type AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global'
   ORDER BY priority DESC LIMIT 1)) top
