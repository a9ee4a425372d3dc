SELECT * FROM jobs INDEXED BY jobs_in_group
WHERE group_id = :group_id AND group_id IS NOT NULL
  AND (status = :status OR :status IS NULL)
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  -- include listing/parts/newest_first
