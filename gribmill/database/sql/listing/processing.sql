SELECT * FROM jobs INDEXED BY jobs_lease
WHERE status = 'processing'
  -- include listing/parts/newest_first
