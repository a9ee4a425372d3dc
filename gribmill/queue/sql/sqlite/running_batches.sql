SELECT count(DISTINCT batch_id) AS n FROM jobs INDEXED BY jobs_lease
WHERE type = :type AND status = 'processing' AND batch_id IS NOT :joined
