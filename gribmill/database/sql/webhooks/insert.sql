INSERT INTO webhooks (tenant_id, url, events, secret, created_by, created_at, updated_at)
VALUES (:tenant_id, :url, :events, :secret, :created_by, :now, :now)
RETURNING *
