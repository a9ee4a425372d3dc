UPDATE webhooks SET is_enabled = :is_enabled, disabled_reason = NULL, failing_since = NULL, updated_at = :now WHERE id = :id
