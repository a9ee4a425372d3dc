UPDATE job_triggers SET label = :label, payload_template = :template, trigger_type = :trigger_type,
  cron_expr = :cron, timezone = :timezone, event_name = :event, priority = :priority,
  dedupe_window_seconds = :dedupe_window_seconds, misfire = :misfire, template_id = :template_id,
  uses_template_priority = :uses_template_priority, definition_key = :type, next_trigger_at = :slot, updated_at = :now
WHERE id = :id
