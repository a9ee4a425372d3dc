UPDATE job_definitions SET paused_at = :paused_at, updated_at = :now WHERE key = :key
