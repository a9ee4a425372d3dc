SELECT * FROM jobs INDEXED BY jobs_of_group
WHERE group_key = :group_key AND group_key IS NOT NULL
  AND (status = :status OR :status IS NULL)
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  -- include listing/parts/newest_first
