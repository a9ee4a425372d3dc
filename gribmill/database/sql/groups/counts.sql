-- A failed or cancelled job no longer counts once it was retried or an equal job was added.
SELECT j.type, j.status, count(*) AS n FROM jobs j INDEXED BY jobs_group_status
WHERE j.group_id = :group_id AND j.group_id IS NOT NULL
  AND NOT (j.status IN ('failed','cancelled') AND (
    EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id AND r.retry_of IS NOT NULL)
    OR EXISTS (SELECT 1 FROM jobs r INDEXED BY jobs_group_status
      WHERE r.group_id = j.group_id AND r.group_id IS NOT NULL AND r.type = j.type
        AND r.dedupe_key = j.dedupe_key AND r.id > j.id AND r.status IN ('pending','processing','completed','failed','cancelled'))))
GROUP BY j.type, j.status
