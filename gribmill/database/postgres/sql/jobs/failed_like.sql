-- Searches only the last failures, because no index has the dedupe keys of ended jobs.
SELECT * FROM jobs
WHERE status = 'failed'
  AND id > coalesce((SELECT id FROM jobs WHERE status = 'failed' ORDER BY id DESC LIMIT 1 OFFSET 5000), 0)
  AND dedupe_key = ANY (ARRAY(SELECT json_array_elements_text(:dedupe_keys::json))) ORDER BY id
