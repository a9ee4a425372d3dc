SELECT * FROM job_triggers WHERE id = :id
