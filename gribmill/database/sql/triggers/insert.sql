INSERT INTO job_triggers (label, definition_key, payload_template, trigger_type, cron_expr, timezone, event_name, priority,
  tenant_id, dedupe_window_seconds, misfire, next_trigger_at, created_by, template_id,
  uses_template_priority, created_at, updated_at)
VALUES (:label, :definition_key, :payload_template, :trigger_type, :cron_expr, :timezone, :event_name, :priority,
  :tenant_id, :dedupe_window_seconds, :misfire, :next_trigger_at, :created_by, :template_id,
  :uses_template_priority, :now, :now)
RETURNING id
