-- A job is kept until its dependents have been released or cancelled.
DELETE FROM jobs WHERE id = ANY (ARRAY(
  SELECT id FROM jobs
  WHERE completed_at IS NOT NULL AND completed_at < :before
    AND status = ANY (ARRAY(SELECT json_array_elements_text(:statuses::json)))
    AND NOT EXISTS (SELECT 1 FROM ended_parents e WHERE e.job_id = jobs.id)
  ORDER BY completed_at LIMIT :limit FOR UPDATE SKIP LOCKED))
