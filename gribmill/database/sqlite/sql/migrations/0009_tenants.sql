-- Tenants are rows. `global` is always there and owns the shared chain. NULL as a limit: none.
CREATE TABLE tenants (
  name TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  timezone TEXT NOT NULL DEFAULT 'UTC',               -- the default of its schedules
  regions TEXT NOT NULL DEFAULT '[]',                 -- JSON: what is cut for it beside the regions of everybody
  max_running INTEGER CHECK (max_running > 0),        -- jobs in flight
  max_pending INTEGER CHECK (max_pending > 0),
  max_per_minute INTEGER CHECK (max_per_minute > 0),  -- enqueued jobs
  max_disk_bytes INTEGER CHECK (max_disk_bytes > 0),  -- of tiles that no one else asked for
  disabled_at TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
);
INSERT INTO tenants (name, title) VALUES ('global', 'everybody');
-- Names that are in use already stay valid.
INSERT OR IGNORE INTO tenants (name) SELECT DISTINCT tenant_id FROM jobs;
INSERT OR IGNORE INTO tenants (name) SELECT DISTINCT tenant_id FROM job_triggers;
