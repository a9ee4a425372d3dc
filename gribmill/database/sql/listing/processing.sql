SELECT * FROM jobs INDEXED BY jobs_lease
WHERE status = 'processing'
  -- include listing/parts/filters
ORDER BY id DESC LIMIT :limit
