-- A job is kept until its dependents have been released or cancelled.
DELETE FROM jobs WHERE id IN (
  SELECT id FROM jobs INDEXED BY jobs_finished
  WHERE completed_at IS NOT NULL AND completed_at < :before AND status IN (SELECT value FROM json_each(:statuses))
    AND NOT EXISTS (SELECT 1 FROM ended_parents e WHERE e.job_id = jobs.id)
  ORDER BY completed_at LIMIT :limit)
