SELECT id AS job_id, status || ', but a dead letter since ' || dead_lettered_at AS detail FROM jobs
WHERE dead_lettered_at IS NOT NULL AND status <> 'failed'
