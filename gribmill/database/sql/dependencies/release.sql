UPDATE jobs SET deps_left = deps_left - 1, ready_at = :now
WHERE id = :job_id AND status = 'pending' AND deps_left > 0
