UPDATE webhooks SET is_enabled = 0, disabled_reason = :reason, updated_at = :now
WHERE id = :id AND is_enabled = 1 AND (:gone = 1 OR failing_since <= :before)
RETURNING *
