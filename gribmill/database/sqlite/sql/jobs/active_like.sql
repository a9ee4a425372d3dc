SELECT * FROM jobs INDEXED BY jobs_dedupe
WHERE tenant_id = :tenant_id AND dedupe_key IN (SELECT value FROM json_each(:dedupe_keys)) AND dedupe_key IS NOT NULL
  AND status IN ('pending','processing')
