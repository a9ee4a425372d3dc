SELECT * FROM idempotency_keys WHERE actor = :actor AND key = :key
