-- Schema version 1. The first eleven columns of jobs are the base specification's: same names, same order,
-- and its hand-written statements (insert, claim, complete, fail, reset) run against this table unchanged.
-- Where every job passes, a check is a chain of ORs: for an IN of more than two words SQLite makes a table of the words,
-- again for each statement and each trigger, which takes longer than writing the row.
CREATE TABLE jobs (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: order of arrival is order of id
  type          TEXT    NOT NULL,
  args          TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(args)),
  priority      INTEGER NOT NULL DEFAULT 0,
  status        TEXT    NOT NULL DEFAULT 'pending'
                CHECK (status = 'pending' OR status = 'processing' OR status = 'completed' OR status = 'failed'
                       OR status = 'cancelled'),
  worker_id     TEXT,
  created_at    TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  started_at    TEXT,
  completed_at  TEXT,
  error_message TEXT,
  retry_count   INTEGER NOT NULL DEFAULT 0,
  -- ordering and gating
  position      INTEGER NOT NULL DEFAULT 0,         -- 0: natural order; negative: pinned ahead; positive: parked
  next_run_at   TEXT,                               -- NULL: eligible now
  deps_left     INTEGER NOT NULL DEFAULT 0,         -- > 0: waiting on parents
  -- attempts, leases, fencing
  attempt_no    INTEGER NOT NULL DEFAULT 0,         -- the fence: +1 on every claim, never less
  max_attempts  INTEGER NOT NULL DEFAULT 3,
  lease_expires_at TEXT,
  cancel_requested_at TEXT,
  dead_lettered_at TEXT,
  -- identity and grouping
  tenant_id     TEXT    NOT NULL DEFAULT 'global',  -- NULLs would be distinct in the dedupe index
  dedupe_key    TEXT,
  group_key     TEXT,                               -- siblings that may be claimed together
  batch_id      INTEGER,                            -- the head's id of the last batch it was claimed in
  source        TEXT    NOT NULL DEFAULT 'manual'
                CHECK (source = 'manual' OR source = 'event' OR source = 'schedule' OR source = 'system'),
  source_ref    TEXT,
  correlation_id TEXT,
  retry_of      INTEGER REFERENCES jobs(id) ON DELETE SET NULL,
  created_by    TEXT,
  -- Checks stand on added columns only, so that the base's own statements run.
  CHECK (lease_expires_at IS NULL OR status = 'processing'),
  CHECK (dead_lettered_at IS NULL OR status = 'failed')
);

-- Only rows that can run right now are in the claim indexes: finished and delayed ones cost a claim nothing.
CREATE INDEX jobs_ready ON jobs (type, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0;
CREATE INDEX jobs_group ON jobs (type, group_key, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND group_key IS NOT NULL;
CREATE INDEX jobs_due ON jobs (next_run_at) WHERE status = 'pending' AND next_run_at IS NOT NULL;
CREATE INDEX jobs_waiting ON jobs (id) WHERE status = 'pending' AND deps_left > 0;  -- with ready and due: all that is pending
CREATE INDEX jobs_moved ON jobs (priority, position) WHERE status = 'pending' AND position <> 0;
CREATE INDEX jobs_unhappy ON jobs (status, id) WHERE status IN ('failed','cancelled');
CREATE INDEX jobs_lease ON jobs (lease_expires_at) WHERE status = 'processing';  -- also finds all that run: they are few
CREATE INDEX jobs_finished ON jobs (completed_at) WHERE completed_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_dedupe ON jobs (tenant_id, dedupe_key)
  WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing');
CREATE INDEX jobs_correlation ON jobs (correlation_id, type, status) WHERE correlation_id IS NOT NULL;
CREATE INDEX jobs_retry_of ON jobs (retry_of) WHERE retry_of IS NOT NULL;

CREATE TABLE workers (
  id             TEXT PRIMARY KEY,                  -- hostname-pid-nonce: a pid alone comes back after a restart
  last_heartbeat TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  current_job_id INTEGER REFERENCES jobs(id) ON DELETE SET NULL,
  hostname TEXT NOT NULL DEFAULT '',
  version TEXT NOT NULL DEFAULT '',
  types TEXT NOT NULL DEFAULT '[]',
  running_count INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active','draining','stopped')),
  started_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
);

CREATE TABLE job_attempts (
  job_id     INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  attempt_no INTEGER NOT NULL,
  worker_id  TEXT NOT NULL,
  pid        INTEGER,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  status     TEXT NOT NULL DEFAULT 'running'
             CHECK (status = 'running' OR status = 'succeeded' OR status = 'failed' OR status = 'timeout'
                    OR status = 'cancelled' OR status = 'lost' OR status = 'snoozed' OR status = 'skipped'),
  exit_code INTEGER,
  stdout_tail TEXT,
  stderr_tail TEXT,
  error_text TEXT,
  artifacts TEXT,
  log_path TEXT,
  PRIMARY KEY (job_id, attempt_no)
) WITHOUT ROWID;

CREATE TABLE direct_reservations (
  reservation_id TEXT PRIMARY KEY,
  scope TEXT NOT NULL DEFAULT '*',
  reserved_at TEXT NOT NULL,
  reserved_by TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ACTIVE','RELEASED','EXPIRED'))
);
CREATE UNIQUE INDEX direct_reservations_one ON direct_reservations (scope) WHERE status = 'ACTIVE';

-- Counting three million rows takes seconds; these rows take none, and one writer keeps them right.
CREATE TABLE job_counts (
  type TEXT NOT NULL, status TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (type, status)
) WITHOUT ROWID;
CREATE TRIGGER jobs_count_ins AFTER INSERT ON jobs BEGIN
  INSERT INTO job_counts VALUES (NEW.type, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_del AFTER DELETE ON jobs BEGIN
  UPDATE job_counts SET n = n - 1 WHERE type = OLD.type AND status = OLD.status;
END;
CREATE TRIGGER jobs_count_upd AFTER UPDATE OF status, type ON jobs
  WHEN OLD.status <> NEW.status OR OLD.type <> NEW.type BEGIN
  UPDATE job_counts SET n = n - 1 WHERE type = OLD.type AND status = OLD.status;
  INSERT INTO job_counts VALUES (NEW.type, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TABLE job_definitions (
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL DEFAULT '',
  arg_schema TEXT NOT NULL DEFAULT '{}',
  default_args TEXT NOT NULL DEFAULT '{}',
  timeout_seconds INTEGER NOT NULL DEFAULT 3600,
  max_attempts INTEGER NOT NULL DEFAULT 3,
  backoff_base_s REAL NOT NULL DEFAULT 30,
  backoff_cap_s REAL NOT NULL DEFAULT 600,
  batch_max INTEGER NOT NULL DEFAULT 1,
  max_running INTEGER,
  paused_at TEXT,
  on_lost TEXT NOT NULL DEFAULT 'retry' CHECK (on_lost IN ('retry','fail')),
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
);

CREATE TABLE job_triggers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT NOT NULL DEFAULT 'global',
  label TEXT NOT NULL,
  is_enabled INTEGER NOT NULL DEFAULT 1,
  trigger_type TEXT NOT NULL CHECK (trigger_type IN ('event','schedule')),
  event_name TEXT,
  cron_expr TEXT,
  timezone TEXT,
  definition_key TEXT NOT NULL REFERENCES job_definitions(key) ON DELETE RESTRICT,
  payload_template TEXT NOT NULL DEFAULT '{}',
  priority INTEGER NOT NULL DEFAULT 0,
  dedupe_window_seconds INTEGER NOT NULL DEFAULT 300,
  misfire TEXT NOT NULL DEFAULT 'latest' CHECK (misfire IN ('skip','latest','all')),
  last_triggered_at TEXT,
  next_trigger_at TEXT,
  created_by TEXT,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  CHECK ((trigger_type='event' AND event_name IS NOT NULL AND cron_expr IS NULL)
      OR (trigger_type='schedule' AND cron_expr IS NOT NULL AND timezone IS NOT NULL AND event_name IS NULL))
);
CREATE INDEX job_triggers_event ON job_triggers (event_name) WHERE trigger_type='event' AND is_enabled=1;
CREATE INDEX job_triggers_due ON job_triggers (next_trigger_at) WHERE trigger_type='schedule' AND is_enabled=1;

-- One row per (trigger, slot) is the real guard against firing twice; a leader only saves work.
CREATE TABLE trigger_firings (
  trigger_id INTEGER NOT NULL REFERENCES job_triggers(id) ON DELETE CASCADE,
  fire_key TEXT NOT NULL,
  job_id INTEGER,
  fired_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  PRIMARY KEY (trigger_id, fire_key)
) WITHOUT ROWID;

CREATE TABLE job_dependencies (
  parent_id INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  job_id INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  on_failure TEXT NOT NULL DEFAULT 'cancel' CHECK (on_failure IN ('cancel','ignore')),
  PRIMARY KEY (parent_id, job_id)
) WITHOUT ROWID;
CREATE INDEX job_dependencies_job ON job_dependencies (job_id);  -- else every delete of a job scans this table

-- Elections; the term is the holder's fencing token.
CREATE TABLE queue_leases (
  name TEXT PRIMARY KEY, holder TEXT NOT NULL, term INTEGER NOT NULL, expires_at TEXT NOT NULL
);

CREATE VIEW job_runs AS SELECT job_id, attempt_no AS run_id, status, started_at, finished_at, exit_code,
  error_text AS error, artifacts, log_path FROM job_attempts;
