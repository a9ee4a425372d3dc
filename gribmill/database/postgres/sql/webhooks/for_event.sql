SELECT * FROM webhooks WHERE is_enabled = 1 AND (tenant_id = :tenant_id OR tenant_id = '*')
  AND EXISTS (SELECT 1 FROM json_array_elements_text(webhooks.events::json) wanted WHERE gribmill_glob(:name, wanted))
ORDER BY id
