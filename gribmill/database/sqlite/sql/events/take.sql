UPDATE events SET dispatched_at = :now WHERE id IN (
  SELECT id FROM events INDEXED BY events_undispatched WHERE dispatched_at IS NULL ORDER BY id LIMIT :limit)
RETURNING *
