-- Locks the parents, so that none can end before the job that waits on it is committed.
SELECT id, status FROM jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint)) ORDER BY id FOR SHARE
