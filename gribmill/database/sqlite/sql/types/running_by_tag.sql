SELECT t.value AS tag, count(DISTINCT j.batch_id) AS batches
FROM jobs j INDEXED BY jobs_lease CROSS JOIN job_definitions d ON d.key = j.type CROSS JOIN json_each(d.resources) t
WHERE j.status = 'processing' GROUP BY t.value
