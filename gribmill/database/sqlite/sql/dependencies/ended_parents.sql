SELECT j.id, j.status FROM ended_parents e CROSS JOIN jobs j ON j.id = e.job_id LIMIT 100
