-- The last id that `events/list_after` would return.
SELECT coalesce((SELECT id FROM events WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY xid DESC, id DESC LIMIT 1), 0) AS id
