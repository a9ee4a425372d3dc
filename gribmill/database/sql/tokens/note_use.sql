UPDATE access_tokens SET last_used_at = :now WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :before)
