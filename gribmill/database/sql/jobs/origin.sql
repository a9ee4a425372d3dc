-- Without a correlation id, a chain of jobs is named after its first one.
UPDATE jobs SET correlation_id = coalesce(correlation_id, 'job-' || id) WHERE id = :job_id
RETURNING tenant_id, requested_by, created_by, correlation_id, group_id
