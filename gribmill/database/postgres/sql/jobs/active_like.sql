SELECT * FROM jobs
WHERE tenant_id = :tenant_id AND dedupe_key = ANY (ARRAY(SELECT json_array_elements_text(:dedupe_keys::json)))
  AND status IN ('pending','processing')
