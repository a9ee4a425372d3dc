SELECT * FROM access_tokens WHERE id = :id
