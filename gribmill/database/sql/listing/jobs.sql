SELECT * FROM jobs WHERE (status = :status OR :status IS NULL)
  -- include listing/parts/newest_first
