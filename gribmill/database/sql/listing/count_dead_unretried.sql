-- Only among the newest dead letters, so that a page that refreshes never reads all of them.
SELECT count(*) AS n FROM (
  SELECT id FROM jobs INDEXED BY jobs_dead
  WHERE status = 'failed' AND dead_lettered_at IS NOT NULL AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
  ORDER BY id DESC LIMIT :most) AS dead
WHERE NOT EXISTS (SELECT 1 FROM jobs AS retry WHERE retry.retry_of = dead.id)
