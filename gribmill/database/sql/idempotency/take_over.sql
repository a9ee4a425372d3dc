UPDATE idempotency_keys SET created_at = :now
WHERE actor = :actor AND key = :key AND status IS NULL AND created_at < :before
