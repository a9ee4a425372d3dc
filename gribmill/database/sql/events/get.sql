SELECT * FROM events WHERE id = :id
