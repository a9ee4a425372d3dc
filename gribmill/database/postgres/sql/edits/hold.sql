-- One change by an operator at a time: it is made from what was there before.
SELECT pg_advisory_xact_lock(7217, 2) IS NULL AS held
