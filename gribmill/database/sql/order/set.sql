UPDATE jobs SET position = :position, priority = :priority WHERE id = :job_id AND status = 'pending'
