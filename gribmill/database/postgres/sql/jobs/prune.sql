DELETE FROM jobs WHERE id = ANY (ARRAY(
  SELECT id FROM jobs
  WHERE completed_at IS NOT NULL AND completed_at < :before
    AND status = ANY (ARRAY(SELECT json_array_elements_text(:statuses::json)))
  ORDER BY completed_at LIMIT :limit FOR UPDATE SKIP LOCKED))
