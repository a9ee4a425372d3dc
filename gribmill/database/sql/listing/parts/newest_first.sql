  AND (status = :status OR :status IS NULL)
  AND (CAST(dead_lettered_at IS NOT NULL AS INTEGER) = :dead OR :dead IS NULL)
  AND (group_id = :group_id OR :group_id IS NULL)
  -- include listing/parts/filters
  AND (CAST(:retried AS INTEGER) IS NULL
    OR CAST(EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = jobs.id) AS INTEGER) = :retried)
ORDER BY id DESC LIMIT :limit
