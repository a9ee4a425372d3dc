SELECT type, count(DISTINCT batch_id) AS batches FROM jobs INDEXED BY jobs_lease WHERE status = 'processing' GROUP BY type
