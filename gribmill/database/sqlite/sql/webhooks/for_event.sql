SELECT * FROM webhooks WHERE is_enabled = 1 AND (tenant_id = :tenant_id OR tenant_id = '*')
  AND EXISTS (SELECT 1 FROM json_each(webhooks.events) wanted WHERE :name GLOB wanted.value)
ORDER BY id
