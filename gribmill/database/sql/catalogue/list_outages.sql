SELECT * FROM outages ORDER BY family
