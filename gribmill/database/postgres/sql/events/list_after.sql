-- In order of (xid, id), without events that a running transaction may still precede; see migration 0021.
SELECT * FROM events
WHERE (xid, id) > ((SELECT gribmill_event_xid(:after_id)), :after_id)
  AND (:through_id::bigint IS NULL OR (xid, id) <= ((SELECT gribmill_event_xid(:through_id)), :through_id))
  AND xid < pg_snapshot_xmin(pg_current_snapshot())
  AND (:pattern::text IS NULL OR gribmill_glob(name, :pattern)) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY xid, id LIMIT :limit
