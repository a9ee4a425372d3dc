SELECT j.id, j.type, j.status, d.on_failure FROM job_dependencies d JOIN jobs j ON j.id = d.parent_id
WHERE d.job_id = :job_id ORDER BY j.id
