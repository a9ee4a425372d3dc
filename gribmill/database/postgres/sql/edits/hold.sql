-- One operator's change at a time: each is based on the state before it.
SELECT pg_advisory_xact_lock(7217, 2) IS NULL AS held
