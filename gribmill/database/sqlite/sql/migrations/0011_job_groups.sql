-- A job group is a set of jobs with a name, which is followed, cancelled and retried as a whole. It has nothing to do
-- with `group_key`, which says which jobs may be claimed as one batch.
CREATE TABLE job_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT NOT NULL DEFAULT 'global',
  name TEXT NOT NULL,
  mode TEXT NOT NULL DEFAULT 'parallel' CHECK (mode IN ('parallel','sequential')),
  on_failure TEXT NOT NULL DEFAULT 'continue' CHECK (on_failure IN ('stop','continue','skip')),
  stopped_at TEXT,                                  -- no job of it starts any more, until it is retried
  created_by TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
);
CREATE UNIQUE INDEX job_groups_name ON job_groups (tenant_id, name);
ALTER TABLE jobs ADD COLUMN group_id INTEGER REFERENCES job_groups(id) ON DELETE SET NULL;
CREATE INDEX jobs_in_group ON jobs (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX jobs_group_status ON jobs (group_id, status, type, dedupe_key) WHERE group_id IS NOT NULL;

-- A failure stops a group with on_failure = 'stop', whether the queue or a manual statement recorded it. It is settled
-- like the end of a parent.
CREATE TRIGGER jobs_group_failed AFTER UPDATE OF status ON jobs
  WHEN NEW.group_id IS NOT NULL AND NEW.status = 'failed' AND OLD.status <> 'failed'
    AND EXISTS (SELECT 1 FROM job_groups WHERE id = NEW.group_id AND on_failure = 'stop') BEGIN
  INSERT OR IGNORE INTO ended_parents VALUES (NEW.id);
END;
