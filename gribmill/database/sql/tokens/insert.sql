INSERT INTO access_tokens (id, name, role, tenant_id, scopes, secret_hash, created_by, created_at, expires_at)
VALUES (:id, :name, :role, :tenant_id, :scopes, :secret_hash, :created_by, :now, :expires_at)
ON CONFLICT (id) DO NOTHING
