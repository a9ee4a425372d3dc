UPDATE idempotency_keys SET status = :status, body = :body, location = :location
WHERE actor = :actor AND key = :key AND status IS NULL
