-- The attempt succeeded, but the job's row was not updated.
WITH done AS (
  UPDATE jobs SET status = 'completed', completed_at = coalesce(completed_at, :now), lease_expires_at = NULL,
    worker_id = NULL, error_message = NULL
  WHERE id = :job_id AND status = 'processing' AND attempt_no = :attempt_no AND EXISTS (
    SELECT 1 FROM job_attempts
    WHERE job_id = :job_id AND attempt_no = :attempt_no AND status IN ('succeeded','skipped'))
  RETURNING id, tenant_id, type
), counted AS (
  INSERT INTO job_count_changes (tenant_id, type, status, n)
  SELECT tenant_id, type, 'completed', 1 FROM done WHERE tenant_id = 'global'
)
SELECT id, gribmill_note_parent(id) FROM done
