SELECT * FROM jobs INDEXED BY jobs_template
WHERE template_id = :template_id AND template_id IS NOT NULL
  AND (status = :status OR :status IS NULL)
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  AND (group_id = :group_id OR :group_id IS NULL)
  -- include listing/parts/newest_first
