UPDATE idempotency_keys SET status = :status, body = :body WHERE actor = :actor AND key = :key AND status IS NULL
