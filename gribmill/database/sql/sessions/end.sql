UPDATE access_sessions SET ended_at = :now WHERE id_hash = :id_hash AND ended_at IS NULL
