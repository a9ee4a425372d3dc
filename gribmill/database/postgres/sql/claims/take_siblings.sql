-- More siblings of a job that this worker holds.
WITH head AS MATERIALIZED (
  SELECT j.id, j.type, j.group_key, j.claimant, j.batch_id, false AS is_new, :more::int AS more,
    d.timeout_seconds AS type_timeout, NULL::text AS command
  FROM jobs j JOIN job_definitions d ON d.key = j.type
  WHERE j.id = :job_id AND j.status = 'processing' AND j.attempt_no = :attempt_no AND j.worker_id = :worker_id
    AND pg_try_advisory_xact_lock(hashtextextended(j.type || ':' || j.group_key, 0))
  FOR SHARE OF j
-- include claims/parts/take_batch
