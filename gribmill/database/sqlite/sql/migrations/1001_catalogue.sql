-- What exists: written only in the transactions that complete jobs, so it never says more than is true.
CREATE TABLE runs (
  model_id TEXT NOT NULL,
  run_id TEXT NOT NULL,                     -- YYYYMMDD_HH
  hours TEXT NOT NULL,                      -- JSON list: the hours that make it whole
  final INTEGER NOT NULL DEFAULT 1,         -- 0 while the hours of the run are still being discovered
  state TEXT NOT NULL DEFAULT 'arriving' CHECK (state IN ('arriving','complete','given_up')),
  first_seen_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  completed_at TEXT,
  PRIMARY KEY (model_id, run_id)
) WITHOUT ROWID;

CREATE TABLE hours (
  model_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'published' CHECK (state IN ('published','ingested','built')),
  published_at TEXT,                        -- as the mirror tells
  seen_at TEXT NOT NULL,
  mirror TEXT,
  size INTEGER,
  url TEXT,
  etag TEXT,
  bytes INTEGER,                            -- of the spool file
  requested_bytes INTEGER,
  requests INTEGER,
  sha256 TEXT,
  found TEXT,                               -- JSON lists of variable names
  missing TEXT,
  regions TEXT,                             -- JSON list: the tiles that make the hour whole
  keep_grib INTEGER NOT NULL DEFAULT 0,
  ingested_at TEXT,
  built_at TEXT,
  PRIMARY KEY (model_id, run_id, hour)
) WITHOUT ROWID;

CREATE TABLE tiles (
  model_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  region TEXT NOT NULL,
  hour INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  built_at TEXT NOT NULL,
  PRIMARY KEY (model_id, run_id, region, hour)
) WITHOUT ROWID;

CREATE TABLE mirrors (
  name TEXT PRIMARY KEY,
  failures INTEGER NOT NULL DEFAULT 0,      -- in a row
  last_error TEXT,
  last_failed_at TEXT,
  last_ok_at TEXT,
  sick_until TEXT                           -- NULL: trusted
);
