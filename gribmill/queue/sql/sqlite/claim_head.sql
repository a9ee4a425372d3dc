SELECT j.id, j.type, j.group_key, j.retry_count
FROM json_each(:types) t CROSS JOIN jobs j ON j.id = (
  SELECT id FROM jobs INDEXED BY jobs_ready
  WHERE type = t.value AND status = 'pending' AND next_run_at IS NULL AND deps_left = 0
  ORDER BY priority DESC, position, created_at, id LIMIT 1)
ORDER BY j.priority DESC, j.position, j.created_at, j.id LIMIT 1
