SELECT id FROM job_templates WHERE definition_key = :key
