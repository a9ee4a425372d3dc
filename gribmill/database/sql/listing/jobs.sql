SELECT * FROM jobs
WHERE (status = :status OR :status IS NULL)
  -- include listing/parts/filters
  AND (CAST(:retried AS INTEGER) IS NULL
    OR CAST(EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = jobs.id) AS INTEGER) = :retried)
ORDER BY id DESC LIMIT :limit
