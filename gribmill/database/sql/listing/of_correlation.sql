SELECT * FROM jobs INDEXED BY jobs_correlation
WHERE correlation_id = :correlation_id AND correlation_id IS NOT NULL
  -- include listing/parts/newest_first
