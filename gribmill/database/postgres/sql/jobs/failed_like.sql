-- Among the last failures only: no index has the keys of jobs that have ended.
SELECT * FROM jobs
WHERE status = 'failed'
  AND id > coalesce((SELECT id FROM jobs WHERE status = 'failed' ORDER BY id DESC LIMIT 1 OFFSET 5000), 0)
  AND dedupe_key = ANY (ARRAY(SELECT json_array_elements_text(:dedupe_keys::json))) ORDER BY id
