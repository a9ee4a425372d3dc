SELECT * FROM jobs INDEXED BY jobs_template
WHERE template_id = :template_id AND template_id IS NOT NULL
  -- include listing/parts/newest_first
