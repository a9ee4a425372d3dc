-- Completes attempts that the worker still holds; for others the worker is fenced, and nothing changes. A database
-- trigger maintains the counters of tenants other than `global`. Jobs and attempts are looked up one by one: with
-- `status = 'processing'`, the planner would walk all running jobs instead, and all that ever ran while an old transaction
-- is open; with `status = 'running'`, or without the range of `d.attempt_no`, which excludes nothing but lets it expect one
-- report, a plan from a time when the tables were small would walk all rows for as long as the worker keeps it.
WITH done AS (
  UPDATE jobs j SET status = 'completed', completed_at = :now, lease_expires_at = NULL, worker_id = NULL,
    error_message = NULL, steps = j.steps + (j.tenant_id = 'global' AND j.lease_expires_at IS NOT NULL)::int
  FROM unnest(:ids::bigint[], :attempt_nos::int[], :statuses::text[], :exit_codes::int[], :stdout_tails::text[],
    :stderr_tails::text[], :error_texts::text[], :artifacts::text[],
    :log_paths::text[], :downloaded::bigint[], :written::bigint[])
    AS d(id, attempt_no, status, exit_code, stdout_tail, stderr_tail, error_text, artifacts, log_path, downloaded, written)
  WHERE d.attempt_no BETWEEN 0 AND 2147483647
    AND j.id = d.id AND j.status || '' = 'processing' AND j.attempt_no = d.attempt_no AND j.worker_id = :worker_id
  RETURNING d.*, j.tenant_id, j.type
), counted AS (
  INSERT INTO job_count_changes (tenant_id, type, status, n)
  SELECT tenant_id, type, 'completed', count(*) FROM done WHERE tenant_id = 'global' GROUP BY tenant_id, type
), ended AS (
  UPDATE job_attempts a SET status = r.status, finished_at = :now, exit_code = r.exit_code, stdout_tail = r.stdout_tail,
    stderr_tail = r.stderr_tail, error_text = r.error_text, artifacts = r.artifacts, log_path = r.log_path,
    downloaded_bytes = r.downloaded, written_bytes = r.written
  FROM done r
  WHERE a.job_id = r.id AND a.attempt_no = r.attempt_no AND CASE a.status WHEN 'running' THEN true END
)
SELECT id, attempt_no FROM done
