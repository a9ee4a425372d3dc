SELECT name FROM tenants WHERE name = :name FOR NO KEY UPDATE
