SELECT next_trigger_at AS due FROM job_triggers INDEXED BY job_triggers_due
WHERE trigger_type = 'schedule' AND is_enabled = 1 AND cron_expr <> '@adaptive' AND definition_key IN (SELECT value FROM json_each(:types))
ORDER BY next_trigger_at LIMIT 1
