SELECT id FROM events INDEXED BY events_undispatched WHERE dispatched_at IS NULL LIMIT 1
