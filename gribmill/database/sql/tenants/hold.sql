-- One transaction at a time counts the jobs of a tenant with limits; SQLite has one writer anyway.
SELECT name FROM tenants WHERE name = :name
