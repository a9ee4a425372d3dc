SELECT * FROM webhooks ORDER BY id
