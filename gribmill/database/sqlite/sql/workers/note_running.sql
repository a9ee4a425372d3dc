UPDATE workers SET (running_count, current_job_id) = (
  SELECT count(*), min(id) FROM jobs INDEXED BY jobs_lease WHERE status = 'processing' AND worker_id = ?1)
WHERE id = ?1
