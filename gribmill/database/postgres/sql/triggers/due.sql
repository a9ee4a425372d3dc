-- Due, written manually without a time, or planned too late because the clock was ahead.
SELECT * FROM job_triggers
WHERE trigger_type = 'schedule' AND is_enabled = 1
  AND (next_trigger_at <= :now OR next_trigger_at IS NULL OR updated_at > :now)
  AND cron_expr <> '@adaptive' AND definition_key = ANY (ARRAY(SELECT json_array_elements_text(:types::json)))
ORDER BY next_trigger_at NULLS FIRST LIMIT :limit FOR UPDATE SKIP LOCKED
