-- Among the last failures only: no index has the keys of jobs that have ended.
SELECT * FROM jobs INDEXED BY jobs_unhappy
WHERE status = 'failed' AND status IN ('failed','cancelled')
  AND id > coalesce((SELECT id FROM jobs INDEXED BY jobs_unhappy WHERE status = 'failed' AND status IN ('failed','cancelled')
                     ORDER BY id DESC LIMIT 1 OFFSET 5000), 0)
  AND dedupe_key IN (SELECT value FROM json_each(:dedupe_keys)) ORDER BY id
