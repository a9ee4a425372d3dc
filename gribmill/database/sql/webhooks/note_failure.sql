UPDATE webhooks SET failing_since = coalesce(failing_since, :now), last_error = :error WHERE id = :id
