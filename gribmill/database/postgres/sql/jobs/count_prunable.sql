SELECT count(*) AS n FROM jobs
WHERE completed_at IS NOT NULL AND completed_at < :before
  AND status = ANY (ARRAY(SELECT json_array_elements_text(:statuses::json)))
