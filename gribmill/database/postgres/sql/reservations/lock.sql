-- No claim runs while a reservation is made.
SELECT pg_advisory_xact_lock(7217, 1) IS NULL AS locked
