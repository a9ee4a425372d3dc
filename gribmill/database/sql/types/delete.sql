DELETE FROM job_definitions WHERE key = :key
