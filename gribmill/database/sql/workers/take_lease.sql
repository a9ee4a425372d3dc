INSERT INTO queue_leases (name, holder, term, expires_at) VALUES (:name, :holder, 1, :expires_at)
ON CONFLICT (name) DO UPDATE SET
  term = queue_leases.term + CASE WHEN queue_leases.holder = excluded.holder THEN 0 ELSE 1 END, holder = excluded.holder,
  expires_at = excluded.expires_at
WHERE queue_leases.expires_at <= :now OR (queue_leases.holder = excluded.holder AND :renew = 1)
RETURNING term
