SELECT * FROM mirrors WHERE name = :name
