SELECT correlation_id FROM jobs WHERE id = :job_id
