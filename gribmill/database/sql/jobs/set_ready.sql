UPDATE jobs SET ready_at = :now WHERE id = :job_id
