UPDATE jobs SET retry_count = :retry_count WHERE id = :job_id AND status = 'pending'
