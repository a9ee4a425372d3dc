UPDATE job_definitions SET version = version + 1 WHERE key = :key RETURNING version
