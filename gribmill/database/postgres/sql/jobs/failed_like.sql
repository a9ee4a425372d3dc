SELECT * FROM jobs
WHERE status = 'failed' AND dedupe_key = ANY (ARRAY(SELECT json_array_elements_text(:dedupe_keys::json))) ORDER BY id
