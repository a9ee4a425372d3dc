  SELECT d.key, d.batch_max, d.timeout_seconds,
    CASE WHEN d.command IS NOT NULL
      THEN json_build_object('command', d.command::json, 'schema', d.arg_schema::json)::text END AS command
  FROM job_definitions d
  WHERE d.key = ANY (ARRAY(SELECT json_array_elements_text(:types::json))) AND d.is_active = 1 AND d.paused_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM direct_reservations r
      WHERE r.status = 'ACTIVE' AND r.expires_at > :now AND (r.scope = '*' OR r.scope = d.key)
        AND NOT EXISTS (SELECT 1 FROM reservation_workers w
          WHERE w.reservation_id = r.reservation_id AND w.worker_id = :worker_id))
    AND (d.max_running IS NULL AND d.resources = '[]'
      OR d.key <> ALL (string_to_array(current_setting('gribmill.busy', true), E'\n'))
        AND (d.max_running IS NULL OR d.max_running > (
          SELECT count(DISTINCT batch_id) FROM jobs WHERE type = d.key AND status = 'processing'))
        AND (d.resources = '[]' OR NOT EXISTS (
          SELECT 1 FROM json_array_elements_text(d.resources::json) tag JOIN resource_limits r ON r.tag = tag.value
          WHERE r.most <= (
            SELECT count(DISTINCT b.batch_id) FROM jobs b JOIN job_definitions bd ON bd.key = b.type
            WHERE b.status = 'processing' AND bd.resources <> '[]' AND EXISTS (
              SELECT 1 FROM json_array_elements_text(bd.resources::json) bt WHERE bt.value = r.tag)))))
