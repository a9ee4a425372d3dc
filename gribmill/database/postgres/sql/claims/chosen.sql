SELECT j.id, j.group_key, j.claimant AS tenant_id, j.retry_count, d.batch_max
FROM jobs j JOIN job_definitions d ON d.key = j.type WHERE j.id = :job_id
