-- A parent cannot end before the job that waits for it is there.
SELECT id, status FROM jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint)) ORDER BY id FOR SHARE
