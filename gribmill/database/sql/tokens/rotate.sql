UPDATE access_tokens SET secret_hash = :secret_hash, expires_at = :expires_at WHERE id = :id AND revoked_at IS NULL
