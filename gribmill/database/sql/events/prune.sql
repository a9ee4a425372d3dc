DELETE FROM events WHERE id IN (
  SELECT id FROM events INDEXED BY events_time WHERE created_at < :before AND dispatched_at IS NOT NULL LIMIT :limit)
