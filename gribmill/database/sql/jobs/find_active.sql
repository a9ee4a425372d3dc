SELECT id, requested_by FROM jobs INDEXED BY jobs_dedupe
WHERE tenant_id = :tenant_id AND dedupe_key = :dedupe_key AND dedupe_key IS NOT NULL
  AND status IN ('pending','processing')
