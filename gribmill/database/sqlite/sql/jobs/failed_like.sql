SELECT * FROM jobs INDEXED BY jobs_unhappy
WHERE status = 'failed' AND status IN ('failed','cancelled')
  AND dedupe_key IN (SELECT value FROM json_each(:dedupe_keys)) ORDER BY id
