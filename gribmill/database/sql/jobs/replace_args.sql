UPDATE jobs SET args = :args, changed_at = :now WHERE id = :job_id AND status = 'pending'
