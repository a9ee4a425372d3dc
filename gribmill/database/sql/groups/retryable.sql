-- Failed jobs (with :cancelled also cancelled ones) that have not been replaced since, in order of arrival.
SELECT j.id, j.type FROM jobs j INDEXED BY jobs_group_status
WHERE j.group_id = :group_id AND j.group_id IS NOT NULL AND j.id > :above
  AND (j.status = 'failed' OR (:cancelled = 1 AND j.status = 'cancelled')) AND j.status IN ('failed','cancelled')
  AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id AND r.retry_of IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM jobs r INDEXED BY jobs_group_status
    WHERE r.group_id = j.group_id AND r.group_id IS NOT NULL AND r.type = j.type AND r.dedupe_key = j.dedupe_key AND r.id > j.id
      AND r.status IN ('pending','processing','completed','failed','cancelled'))
ORDER BY j.id LIMIT :limit
