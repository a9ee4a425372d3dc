SELECT * FROM access_sessions WHERE id_hash = :id_hash
