SELECT id, worker_id FROM jobs INDEXED BY jobs_lease
WHERE status = 'processing' AND worker_id IS NOT NULL
ORDER BY id LIMIT 2000
