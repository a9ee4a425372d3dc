SELECT j.id, j.type, j.status, d.on_failure FROM job_dependencies d JOIN jobs j ON j.id = d.job_id
WHERE d.parent_id = :job_id ORDER BY j.id
