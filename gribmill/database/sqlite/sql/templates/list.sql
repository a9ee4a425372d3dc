SELECT t.*, t.definition_key AS type FROM job_templates t
WHERE :tenant_id IS NULL OR tenant_id = :tenant_id
ORDER BY tenant_id, name
