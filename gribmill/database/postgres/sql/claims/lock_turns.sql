-- Where tenants take turns, one claim follows the other: what it counts and whose turn it is cannot change meanwhile.
SELECT pg_advisory_xact_lock(7217, 2) IS NULL AS locked
