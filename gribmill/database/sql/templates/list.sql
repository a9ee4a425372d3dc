SELECT t.*, t.definition_key AS type FROM job_templates t
WHERE tenant_id = :tenant_id OR :tenant_id IS NULL
ORDER BY tenant_id, name
