-- A chain of retries is named after its first job.
UPDATE jobs SET correlation_id = coalesce(correlation_id, 'job-' || id) WHERE id = :job_id
RETURNING tenant_id, requested_by, created_by, correlation_id, group_id
