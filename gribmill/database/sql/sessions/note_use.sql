UPDATE access_sessions SET last_used_at = :now WHERE id_hash = :id_hash AND last_used_at < :before
