SELECT id FROM jobs
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint)) AND tenant_id = :tenant_id
