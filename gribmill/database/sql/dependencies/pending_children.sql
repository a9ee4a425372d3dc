SELECT d.job_id, d.on_failure FROM job_dependencies d JOIN jobs j ON j.id = d.job_id
WHERE d.parent_id = ? AND j.status = 'pending'
