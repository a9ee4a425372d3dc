UPDATE events SET dispatched_at = :now WHERE id = ANY (ARRAY(
  SELECT id FROM events WHERE dispatched_at IS NULL ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED))
RETURNING *
