SELECT next_trigger_at AS due FROM job_triggers
WHERE trigger_type = 'schedule' AND is_enabled = 1 AND cron_expr <> '@adaptive'
  AND definition_key = ANY (ARRAY(SELECT json_array_elements_text(:types::json)))
ORDER BY next_trigger_at NULLS FIRST LIMIT 1
