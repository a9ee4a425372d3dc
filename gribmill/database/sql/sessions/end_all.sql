UPDATE access_sessions SET ended_at = :now WHERE token_id = :token_id AND ended_at IS NULL
