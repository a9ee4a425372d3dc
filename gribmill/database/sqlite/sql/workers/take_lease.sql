INSERT INTO queue_leases (name, holder, term, expires_at) VALUES (:name, :holder, 1, :expires_at)
ON CONFLICT (name) DO UPDATE SET term = term + (holder <> excluded.holder), holder = excluded.holder,
  expires_at = excluded.expires_at
WHERE expires_at <= :now OR (holder = excluded.holder AND :renew = 1)
RETURNING term
