SELECT * FROM webhooks WHERE id = :id
