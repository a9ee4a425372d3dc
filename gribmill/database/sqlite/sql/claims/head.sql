-- The next job of `global`, whether other tenants have ready jobs too (then they take turns, see fair_claims.py), and
-- whether some jobs are due, or have ended and not been settled.
-- include claims/parts/job
-- include claims/parts/look
FROM json_each(:types) t
-- include claims/parts/open
-- include claims/parts/first_ready
ORDER BY j.priority DESC, j.position, j.created_at, j.id LIMIT 1
