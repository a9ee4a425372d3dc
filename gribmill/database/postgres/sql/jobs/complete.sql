-- Completes attempts that the worker still holds; for others the worker is fenced, and nothing changes. A database
-- trigger maintains the counters of tenants other than `global`. Jobs are looked up by id: compared directly, the status
-- would let the planner walk all running jobs instead, and all that ever ran while an old transaction is open.
WITH done AS (
  UPDATE jobs j SET status = 'completed', completed_at = :now, lease_expires_at = NULL, worker_id = NULL,
    error_message = NULL
  FROM unnest(:ids::bigint[], :attempt_nos::int[]) AS d(id, attempt_no)
  WHERE j.id = d.id AND j.status || '' = 'processing' AND j.attempt_no = d.attempt_no AND j.worker_id = :worker_id
  RETURNING j.id, j.attempt_no, j.tenant_id, j.type
), counted AS (
  INSERT INTO job_count_changes (tenant_id, type, status, n)
  SELECT tenant_id, type, 'completed', count(*) FROM done WHERE tenant_id = 'global' GROUP BY tenant_id, type
), ended AS (
  UPDATE job_attempts a SET status = r.status, finished_at = :now, exit_code = r.exit_code, stdout_tail = r.stdout_tail,
    stderr_tail = r.stderr_tail, error_text = r.error_text, artifacts = r.artifacts, log_path = r.log_path,
    downloaded_bytes = r.downloaded, written_bytes = r.written
  FROM unnest(:ids::bigint[], :attempt_nos::int[], :statuses::text[], :exit_codes::int[], :stdout_tails::text[],
    :stderr_tails::text[], :error_texts::text[], :artifacts::text[],
    :log_paths::text[], :downloaded::bigint[], :written::bigint[])
    AS r(job_id, attempt_no, status, exit_code, stdout_tail, stderr_tail, error_text, artifacts, log_path, downloaded,
      written)
  JOIN done ON done.id = r.job_id AND done.attempt_no = r.attempt_no
  WHERE a.job_id = r.job_id AND a.attempt_no = r.attempt_no AND a.status = 'running'
)
SELECT id, attempt_no FROM done
