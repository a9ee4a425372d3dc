DELETE FROM idempotency_keys WHERE actor = :actor AND key = :key AND status IS NULL
