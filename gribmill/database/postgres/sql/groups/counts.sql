-- A failed or cancelled job no longer counts once it was retried or an equal job was added. Completed jobs, the
-- majority in a large group, are counted by an index-only scan.
SELECT type, status, count(*) AS n FROM jobs
WHERE group_id = :group_id AND group_id IS NOT NULL AND status = 'completed' GROUP BY type, status
UNION ALL SELECT j.type, j.status, count(*) FROM jobs j
WHERE j.group_id = :group_id AND j.group_id IS NOT NULL AND j.status IN ('pending','processing','failed','cancelled')
  AND NOT (j.status IN ('failed','cancelled') AND (
    EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id AND r.retry_of IS NOT NULL)
    OR EXISTS (SELECT 1 FROM jobs r
      WHERE r.group_id = j.group_id AND r.group_id IS NOT NULL AND r.type = j.type
        AND r.dedupe_key = j.dedupe_key AND r.id > j.id AND r.status IN ('pending','processing','completed','failed','cancelled'))))
GROUP BY j.type, j.status
