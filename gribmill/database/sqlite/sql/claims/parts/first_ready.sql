CROSS JOIN jobs j ON j.id = (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE type = t.value AND (claimant <> 'global') = 0
    AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  ORDER BY priority DESC, nullif(claimant, 'global'), position, created_at, id LIMIT 1)
