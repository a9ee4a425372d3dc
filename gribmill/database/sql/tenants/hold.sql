-- So that the jobs of a tenant with limits are counted by one transaction at a time; SQLite has one writer anyway.
SELECT name FROM tenants WHERE name = :name
