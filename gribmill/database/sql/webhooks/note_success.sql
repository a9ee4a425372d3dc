UPDATE webhooks SET failing_since = NULL, last_delivered_at = :now WHERE id = :id
