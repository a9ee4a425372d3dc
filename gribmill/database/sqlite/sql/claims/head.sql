-- The next job of `global`; whether other tenants also have ready jobs (then they take turns, see fair_claims.py); and
-- whether there are due jobs, or ended jobs whose dependents are not settled.
-- include claims/parts/job
-- include claims/parts/look
FROM json_each(:types) t
-- include claims/parts/open
-- include claims/parts/first_ready
ORDER BY j.priority DESC, j.position, j.created_at, j.id LIMIT 1
