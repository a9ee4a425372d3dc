-- Serializes counting the jobs of a tenant with limits. Needs no lock in SQLite, which has a single writer.
SELECT name FROM tenants WHERE name = :name
