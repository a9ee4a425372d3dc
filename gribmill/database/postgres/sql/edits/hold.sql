-- Serializes operators' changes, because each is based on the state before it.
SELECT pg_advisory_xact_lock(7217, 2) IS NULL AS held
