-- In the order of (xid, id), and only what no running transaction can still precede; see migration 0021.
SELECT * FROM events
WHERE (xid, id) > (coalesce((SELECT xid FROM events WHERE id <= :after_id ORDER BY id DESC LIMIT 1), '0'), :after_id)
  AND (:through_id::bigint IS NULL OR (xid, id) <= (
    coalesce((SELECT xid FROM events WHERE id <= :through_id ORDER BY id DESC LIMIT 1), '0'), :through_id))
  AND xid < pg_snapshot_xmin(pg_current_snapshot())
  AND (:pattern::text IS NULL OR gribmill_glob(name, :pattern)) AND (tenant_id = :tenant_id OR :tenant_id IS NULL)
ORDER BY xid, id LIMIT :limit
