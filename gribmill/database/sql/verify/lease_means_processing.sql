SELECT id AS job_id, status || ' with a lease until ' || lease_expires_at AS detail FROM jobs
WHERE lease_expires_at IS NOT NULL AND status <> 'processing'
