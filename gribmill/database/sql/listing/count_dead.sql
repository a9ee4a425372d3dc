SELECT count(*) AS n FROM (
  SELECT id FROM jobs INDEXED BY jobs_dead
  WHERE status = 'failed' AND dead_lettered_at IS NOT NULL AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  LIMIT :most) AS dead
