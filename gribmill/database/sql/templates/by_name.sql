SELECT t.*, t.definition_key AS type FROM job_templates t WHERE tenant_id = :tenant_id AND name = :name
