INSERT INTO access_sessions (id_hash, token_id, address, created_at, last_used_at)
VALUES (:id_hash, :token_id, :address, :now, :now)
