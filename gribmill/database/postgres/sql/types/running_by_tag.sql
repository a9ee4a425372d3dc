SELECT t.value AS tag, count(DISTINCT j.batch_id) AS batches
FROM jobs j JOIN job_definitions d ON d.key = j.type CROSS JOIN json_array_elements_text(d.resources::json) t
WHERE j.status = 'processing' GROUP BY t.value
