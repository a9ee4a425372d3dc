UPDATE jobs SET deps_left = deps_left + 1 WHERE id = :job_id AND status = 'pending'
