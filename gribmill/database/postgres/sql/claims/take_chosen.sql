-- Claims a chosen job with siblings; nothing if another worker is claiming it or its group.
WITH head AS MATERIALIZED (
  SELECT j.id, j.type, j.group_key, j.claimant, j.id AS batch_id, true AS is_new, :more::int AS more,
    d.timeout_seconds AS type_timeout,
    CASE WHEN d.command IS NOT NULL
      THEN json_build_object('command', d.command::json, 'schema', d.arg_schema::json)::text END AS command
  FROM jobs j JOIN job_definitions d ON d.key = j.type
  WHERE j.id = :job_id AND j.status = 'pending' AND j.deps_left = 0
    AND (:more::int = 0 OR j.group_key IS NULL
      OR pg_try_advisory_xact_lock(hashtextextended(j.type || ':' || j.group_key, 0)))
  FOR UPDATE OF j SKIP LOCKED
-- include claims/parts/take_batch
