SELECT id FROM jobs WHERE retry_of = :job_id AND retry_of IS NOT NULL ORDER BY id DESC LIMIT 1
