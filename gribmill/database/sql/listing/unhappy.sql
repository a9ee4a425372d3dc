SELECT * FROM jobs INDEXED BY jobs_unhappy
WHERE status = :status AND status IN ('failed','cancelled')
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  -- include listing/parts/newest_first
