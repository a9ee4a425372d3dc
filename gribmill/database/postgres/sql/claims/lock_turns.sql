-- While tenants take turns, claims run one at a time: counts and turns cannot change in between.
SELECT pg_advisory_xact_lock(7217, 2) IS NULL AS locked
