SELECT * FROM workers ORDER BY state, last_heartbeat DESC LIMIT 500
