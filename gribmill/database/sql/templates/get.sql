SELECT t.*, t.definition_key AS type FROM job_templates t WHERE id = :id
