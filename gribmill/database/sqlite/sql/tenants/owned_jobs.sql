SELECT id FROM jobs WHERE id IN (SELECT value FROM json_each(:ids)) AND tenant_id = :tenant_id
