  SELECT d.key, d.batch_max, d.timeout_seconds,
    CASE WHEN d.command IS NOT NULL
      THEN json_build_object('command', d.command::json, 'schema', d.arg_schema::json)::text END AS command
  FROM job_definitions d
  WHERE d.is_active = 1 AND d.paused_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM direct_reservations r
      WHERE r.status = 'ACTIVE' AND r.expires_at > :now AND (r.scope = '*' OR r.scope = d.key)
        AND NOT gribmill_shares(r.reservation_id, :worker_id))
    AND (d.max_running IS NULL AND d.resources = '[]' OR gribmill_has_room(d.key, d.max_running, d.resources))
