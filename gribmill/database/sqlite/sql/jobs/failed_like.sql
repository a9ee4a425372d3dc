-- Searches only the last failures, because no index has the dedupe keys of ended jobs.
SELECT * FROM jobs INDEXED BY jobs_unhappy
WHERE status = 'failed' AND status IN ('failed','cancelled')
  AND id > coalesce((SELECT id FROM jobs INDEXED BY jobs_unhappy WHERE status = 'failed' AND status IN ('failed','cancelled')
                     ORDER BY id DESC LIMIT 1 OFFSET 5000), 0)
  AND dedupe_key IN (SELECT value FROM json_each(:dedupe_keys)) ORDER BY id
