-- Events that were restored from a dump of another server, whose transaction numbers mean nothing here.
UPDATE events SET xid = '0' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())
