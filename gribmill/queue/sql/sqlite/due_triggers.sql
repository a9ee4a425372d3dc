SELECT * FROM job_triggers INDEXED BY job_triggers_due
WHERE trigger_type = 'schedule' AND is_enabled = 1 AND next_trigger_at <= :now
UNION ALL
SELECT * FROM job_triggers INDEXED BY job_triggers_due
WHERE trigger_type = 'schedule' AND is_enabled = 1 AND next_trigger_at IS NULL
