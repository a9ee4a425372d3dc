SELECT type FROM jobs WHERE id = :job_id
