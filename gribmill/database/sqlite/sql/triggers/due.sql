-- Due, written manually without a valid time, or planned too late because the clock was ahead.
SELECT * FROM job_triggers INDEXED BY job_triggers_due
WHERE trigger_type = 'schedule' AND is_enabled = 1
  AND (next_trigger_at <= :now OR next_trigger_at IS NULL OR next_trigger_at > '9' OR updated_at > :now)
  AND cron_expr <> '@adaptive' AND definition_key IN (SELECT value FROM json_each(:types))
ORDER BY next_trigger_at LIMIT :limit
