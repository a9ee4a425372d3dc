INSERT INTO idempotency_keys (actor, key, operation, request_hash, created_at)
VALUES (:actor, :key, :operation, :request_hash, :now)
ON CONFLICT (actor, key) DO NOTHING
