SELECT id FROM job_triggers WHERE definition_key = :key
