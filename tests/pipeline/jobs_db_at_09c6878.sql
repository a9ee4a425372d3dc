BEGIN TRANSACTION;
CREATE TABLE direct_reservations (
  reservation_id TEXT PRIMARY KEY,
  scope TEXT NOT NULL DEFAULT '*',
  reserved_at TEXT NOT NULL,
  reserved_by TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ACTIVE','RELEASED','EXPIRED'))
);
INSERT INTO "direct_reservations" VALUES('0123456789abcdef','build_tile','2026-11-16 12:02:17.000','someone','2026-11-16 12:12:17.000','ACTIVE');
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
  built_at TEXT, asked TEXT, failed_at TEXT, error TEXT,
  PRIMARY KEY (model_id, run_id, hour)
) WITHOUT ROWID;
INSERT INTO "hours" VALUES('hrrr','20261116_06',0,'built','2026-11-16 06:50:00.000','2026-11-16 12:17:17.000','aws-hrrr',1000,'https://example.invalid/f00','"a"',10,12,1,'00','["t2m"]','["gust"]','["ne"]',0,'2026-11-16 12:17:17.000','2026-11-16 12:17:17.000','["ne","sw"]',NULL,NULL);
INSERT INTO "hours" VALUES('hrrr','20261116_06',1,'published','2026-11-16 06:52:00.000','2026-11-16 12:17:17.000','aws-hrrr',1000,'https://example.invalid/f01','"b"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,'2026-11-16 12:17:17.000','gone');
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
INSERT INTO "job_attempts" VALUES(1,1,'host-1-aaaaaaaa',4711,'2026-11-16 12:00:02.000','2026-11-16 12:00:04.000','succeeded',0,'completed
',NULL,NULL,'["tile.npz"]',NULL);
INSERT INTO "job_attempts" VALUES(2,1,'host-1-aaaaaaaa',4711,'2026-11-16 12:00:06.000','2026-11-16 12:00:08.000','skipped',NULL,NULL,NULL,'it is there already',NULL,NULL);
INSERT INTO "job_attempts" VALUES(3,1,'host-1-aaaaaaaa',4711,'2026-11-16 12:00:10.000','2026-11-16 12:00:12.000','failed',1,NULL,'no such model
','no such model',NULL,NULL);
INSERT INTO "job_attempts" VALUES(4,1,'host-1-aaaaaaaa',4711,'2026-11-16 12:00:14.000','2026-11-16 12:00:16.000','failed',NULL,NULL,NULL,'boom',NULL,NULL);
INSERT INTO "job_attempts" VALUES(5,1,'host-1-aaaaaaaa',4711,'2026-11-16 12:00:17.000','2026-11-16 12:00:19.000','failed',1,NULL,NULL,'boom again',NULL,NULL);
INSERT INTO "job_attempts" VALUES(6,1,'host-1-aaaaaaaa',4711,'2026-11-16 12:00:21.000','2026-11-16 12:00:23.000','snoozed',NULL,NULL,NULL,'not yet',NULL,NULL);
INSERT INTO "job_attempts" VALUES(8,1,'host-2-bbbbbbbb',4711,'2026-11-16 12:00:26.000','2026-11-16 12:02:06.000','lost',NULL,NULL,NULL,'the worker host-2-bbbbbbbb went silent during attempt 1',NULL,NULL);
INSERT INTO "job_attempts" VALUES(9,1,'host-3-cccccccc',4711,'2026-11-16 12:02:08.000',NULL,'running',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "job_attempts" VALUES(10,1,'host-3-cccccccc',4711,'2026-11-16 12:02:10.000',NULL,'running',NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE job_counts (
  type TEXT NOT NULL, status TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (type, status)
) WITHOUT ROWID;
INSERT INTO "job_counts" VALUES('sleep','cancelled',1);
INSERT INTO "job_counts" VALUES('sleep','completed',2);
INSERT INTO "job_counts" VALUES('sleep','failed',3);
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
INSERT INTO "job_definitions" VALUES('scan_source','Looks for new runs of a model at NOAA or ECMWF.','{"additionalProperties":false,"description":"Which model to look for; one run of it, if only that is wanted.","properties":{"model_id":{"description":"A model, such as hrrr or gefs.p01","pattern":"^[a-z0-9][a-z0-9_-]{0,29}(\\.[a-z0-9]{1,8})?$","title":"Model Id","type":"string"},"run_id":{"anyOf":[{"description":"A run as YYYYMMDD_HH, in UTC","pattern":"^\\d{8}_\\d{2}$","type":"string"},{"type":"null"}],"default":null,"title":"Run Id"}},"required":["model_id"],"title":"ScanSourceArgs","type":"object"}','{}',300,5,30.0,600.0,1,NULL,NULL,'retry',1,'2026-11-16 12:00:00.000','2026-11-16 12:00:00.000');
INSERT INTO "job_definitions" VALUES('ingest_grib','Downloads the wanted messages of one GRIB file.','{"additionalProperties":false,"description":"Which file: one hour of one run of a model. The rest narrows a backfill; live runs follow the settings.","properties":{"hour":{"description":"Forecast hour","maximum":8784,"minimum":0,"title":"Hour","type":"integer"},"keep_grib":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":null,"title":"Keep Grib"},"model_id":{"description":"A model, such as hrrr or gefs.p01","pattern":"^[a-z0-9][a-z0-9_-]{0,29}(\\.[a-z0-9]{1,8})?$","title":"Model Id","type":"string"},"regions":{"anyOf":[{"items":{"description":"A region, such as ne","pattern":"^[a-z0-9][a-z0-9_-]{0,39}$","type":"string"},"type":"array"},{"type":"null"}],"default":null,"title":"Regions"},"run_id":{"description":"A run as YYYYMMDD_HH, in UTC","pattern":"^\\d{8}_\\d{2}$","title":"Run Id","type":"string"},"variables":{"anyOf":[{"items":{"pattern":"^[A-Za-z0-9_.-]{1,60}$","type":"string"},"type":"array"},{"type":"null"}],"default":null,"title":"Variables"}},"required":["model_id","run_id","hour"],"title":"IngestGribArgs","type":"object"}','{}',1800,5,30.0,600.0,1,NULL,NULL,'retry',1,'2026-11-16 12:00:00.000','2026-11-16 12:00:00.000');
INSERT INTO "job_definitions" VALUES('build_tile','Cuts one hour''s GRIB into the NPZ tile of one region.','{"additionalProperties":false,"description":"Which tile: one region of one hour of a run.","properties":{"hour":{"description":"Forecast hour","maximum":8784,"minimum":0,"title":"Hour","type":"integer"},"model_id":{"description":"A model, such as hrrr or gefs.p01","pattern":"^[a-z0-9][a-z0-9_-]{0,29}(\\.[a-z0-9]{1,8})?$","title":"Model Id","type":"string"},"region":{"description":"A region, such as ne","pattern":"^[a-z0-9][a-z0-9_-]{0,39}$","title":"Region","type":"string"},"run_id":{"description":"A run as YYYYMMDD_HH, in UTC","pattern":"^\\d{8}_\\d{2}$","title":"Run Id","type":"string"}},"required":["model_id","run_id","hour","region"],"title":"BuildTileArgs","type":"object"}','{}',900,3,30.0,600.0,64,NULL,NULL,'retry',1,'2026-11-16 12:00:00.000','2026-11-16 12:00:00.000');
INSERT INTO "job_definitions" VALUES('publish','Moves latest.json forward and removes messages whose tiles are all built.','{"additionalProperties":false,"description":"Which hour has new tiles.","properties":{"hour":{"description":"Forecast hour","maximum":8784,"minimum":0,"title":"Hour","type":"integer"},"model_id":{"description":"A model, such as hrrr or gefs.p01","pattern":"^[a-z0-9][a-z0-9_-]{0,29}(\\.[a-z0-9]{1,8})?$","title":"Model Id","type":"string"},"run_id":{"description":"A run as YYYYMMDD_HH, in UTC","pattern":"^\\d{8}_\\d{2}$","title":"Run Id","type":"string"}},"required":["model_id","run_id","hour"],"title":"PublishArgs","type":"object"}','{}',120,5,5.0,60.0,1,NULL,NULL,'retry',1,'2026-11-16 12:00:00.000','2026-11-16 12:00:00.000');
INSERT INTO "job_definitions" VALUES('prune','Removes old runs: by age, by count, by disk.','{"additionalProperties":false,"description":"One model, or all of them.","properties":{"model_id":{"anyOf":[{"description":"A model, such as hrrr or gefs.p01","pattern":"^[a-z0-9][a-z0-9_-]{0,29}(\\.[a-z0-9]{1,8})?$","type":"string"},{"type":"null"}],"default":null,"title":"Model Id"}},"title":"PruneArgs","type":"object"}','{}',1800,3,30.0,600.0,1,NULL,'2026-11-16 12:02:17.000','retry',1,'2026-11-16 12:00:00.000','2026-11-16 12:02:17.000');
INSERT INTO "job_definitions" VALUES('sleep','Sleeps, prints and fails on request: for trying the queue.','{"additionalProperties":false,"description":"How long, what to say, how to end.","properties":{"fail":{"default":"never","enum":["never","always","once","permanently","crash"],"title":"Fail","type":"string"},"say":{"default":"","maxLength":10000,"title":"Say","type":"string"},"seconds":{"default":0.0,"maximum":86400,"minimum":0,"title":"Seconds","type":"number"},"snooze_seconds":{"anyOf":[{"maximum":86400,"minimum":0,"type":"number"},{"type":"null"}],"default":null,"title":"Snooze Seconds"}},"title":"SleepArgs","type":"object"}','{}',3600,3,1.0,60.0,1,NULL,NULL,'retry',1,'2026-11-16 12:00:00.000','2026-11-16 12:00:00.000');
CREATE TABLE job_dependencies (
  parent_id INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  job_id INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
  on_failure TEXT NOT NULL DEFAULT 'cancel' CHECK (on_failure IN ('cancel','ignore')),
  PRIMARY KEY (parent_id, job_id)
) WITHOUT ROWID;
INSERT INTO "job_dependencies" VALUES(11,13,'cancel');
INSERT INTO "job_dependencies" VALUES(11,14,'ignore');
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
INSERT INTO "job_triggers" VALUES(1,'global','every ten minutes',1,'schedule',NULL,'*/10 * * * *','UTC','sleep','{"seconds": 1, "say": "{{schedule.slot}}"}',0,300,'latest','2026-11-16 12:17:17.000','2026-11-16 12:20:00.000','someone','2026-11-16 12:02:17.000','2026-11-16 12:17:17.000');
INSERT INTO "job_triggers" VALUES(2,'global','on a ping',1,'event','ping',NULL,NULL,'sleep','{"say": "{{event.text}}"}',0,300,'latest','2026-11-16 12:02:17.000',NULL,NULL,'2026-11-16 12:02:17.000','2026-11-16 12:02:17.000');
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
INSERT INTO "jobs" VALUES(1,'sleep','{"seconds":0.0,"say":"completed","fail":"never"}',0,'completed',NULL,'2026-11-16 12:00:01.000','2026-11-16 12:00:02.000','2026-11-16 12:00:04.000',NULL,0,0,NULL,0,1,3,NULL,NULL,NULL,'global',NULL,NULL,1,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(2,'sleep','{"seconds":0.0,"say":"skipped","fail":"never"}',0,'completed',NULL,'2026-11-16 12:00:05.000','2026-11-16 12:00:06.000','2026-11-16 12:00:08.000',NULL,0,0,NULL,0,1,3,NULL,NULL,NULL,'global',NULL,NULL,2,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(3,'sleep','{"seconds":0.0,"say":"failed","fail":"never"}',0,'failed',NULL,'2026-11-16 12:00:09.000','2026-11-16 12:00:10.000','2026-11-16 12:00:12.000','no such model',0,0,NULL,0,1,3,NULL,NULL,NULL,'global',NULL,NULL,3,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(4,'sleep','{"seconds":0.0,"say":"dead letter","fail":"never"}',0,'failed',NULL,'2026-11-16 12:00:13.000','2026-11-16 12:00:14.000','2026-11-16 12:00:16.000','boom',0,0,NULL,0,1,1,NULL,NULL,'2026-11-16 12:00:16.000','global',NULL,NULL,4,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(5,'sleep','{"seconds":0.0,"say":"dead letter","fail":"never"}',0,'failed',NULL,'2026-11-16 12:00:16.000','2026-11-16 12:00:17.000','2026-11-16 12:00:19.000','boom again',0,0,NULL,0,1,1,NULL,NULL,'2026-11-16 12:00:19.000','global',NULL,NULL,5,'manual','retry of job 4',NULL,4,'someone');
INSERT INTO "jobs" VALUES(6,'sleep','{"seconds":0.0,"say":"snoozed","fail":"never"}',0,'pending',NULL,'2026-11-16 12:00:20.000','2026-11-16 12:00:21.000',NULL,NULL,0,0,'2026-11-16 14:00:23.000',0,1,3,NULL,NULL,NULL,'global',NULL,NULL,6,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(7,'sleep','{"seconds":0.0,"say":"cancelled","fail":"never"}',0,'cancelled',NULL,'2026-11-16 12:00:24.000',NULL,'2026-11-16 12:00:24.000','not wanted',0,0,NULL,0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(8,'sleep','{"seconds":0.0,"say":"lost","fail":"never"}',0,'pending',NULL,'2026-11-16 12:00:25.000','2026-11-16 12:00:26.000',NULL,'the worker host-2-bbbbbbbb went silent during attempt 1',1,0,NULL,0,1,3,NULL,NULL,NULL,'global',NULL,NULL,8,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(9,'sleep','{"seconds":0.0,"say":"running","fail":"never"}',9,'processing','host-3-cccccccc','2026-11-16 12:02:07.000','2026-11-16 12:02:08.000',NULL,NULL,0,0,NULL,0,1,3,'2026-11-16 12:03:08.000',NULL,NULL,'global',NULL,NULL,9,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(10,'sleep','{"seconds":0.0,"say":"asked to stop","fail":"never"}',9,'processing','host-3-cccccccc','2026-11-16 12:02:09.000','2026-11-16 12:02:10.000',NULL,'stop it',0,0,NULL,0,1,3,'2026-11-16 12:03:10.000','2026-11-16 12:02:10.000',NULL,'global',NULL,NULL,10,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(11,'sleep','{"seconds":0.0,"say":"ready","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:11.000',NULL,NULL,NULL,0,0,NULL,0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(12,'sleep','{"seconds":0.0,"say":"delayed","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:12.000',NULL,NULL,NULL,0,0,'2026-11-16 13:02:12.000',0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(13,'sleep','{"seconds":0.0,"say":"waiting","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:13.000',NULL,NULL,NULL,0,0,NULL,1,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(14,'sleep','{"seconds":0.0,"say":"waits on a failure","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:14.000',NULL,NULL,NULL,0,0,NULL,1,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(15,'sleep','{"seconds":0.0,"say":"moved to the front","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:15.000',NULL,NULL,NULL,0,-100,NULL,0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(16,'sleep','{"seconds":0.0,"say":"with a key","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:16.000',NULL,NULL,NULL,0,0,NULL,0,0,3,NULL,NULL,NULL,'global','one',NULL,NULL,'manual',NULL,NULL,NULL,'someone');
INSERT INTO "jobs" VALUES(17,'sleep','{"seconds":0.0,"say":"of a tenant","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:17.000',NULL,NULL,NULL,0,0,NULL,0,0,3,NULL,NULL,NULL,'acme',NULL,NULL,NULL,'manual',NULL,'backfill-1',NULL,'someone');
INSERT INTO "jobs" VALUES(18,'sleep','{"seconds":0.0,"say":"hello","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:17.000',NULL,NULL,NULL,0,0,NULL,0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'event','trigger 2: id ping-1',NULL,NULL,'trigger on a ping');
INSERT INTO "jobs" VALUES(19,'sleep','{"seconds":0.0,"say":"hello","fail":"never"}',0,'pending',NULL,'2026-11-16 12:02:17.000',NULL,NULL,NULL,0,0,NULL,0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'event','trigger 2: told cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176',NULL,NULL,'trigger on a ping');
INSERT INTO "jobs" VALUES(20,'sleep','{"seconds":1.0,"say":"2026-11-16T12:10:00.000Z","fail":"never"}',0,'pending',NULL,'2026-11-16 12:17:17.000',NULL,NULL,NULL,0,0,NULL,0,0,3,NULL,NULL,NULL,'global',NULL,NULL,NULL,'schedule','trigger 1: 2026-11-16T12:10:00.000Z',NULL,NULL,'trigger every ten minutes');
CREATE TABLE mirrors (
  name TEXT PRIMARY KEY,
  failures INTEGER NOT NULL DEFAULT 0,      -- in a row
  last_error TEXT,
  last_failed_at TEXT,
  last_ok_at TEXT,
  sick_until TEXT                           -- NULL: trusted
);
INSERT INTO "mirrors" VALUES('aws-hrrr',1,'500','2026-11-16 11:00:00.000','2026-11-16 12:00:00.000',NULL);
CREATE TABLE queue_leases (
  name TEXT PRIMARY KEY, holder TEXT NOT NULL, term INTEGER NOT NULL, expires_at TEXT NOT NULL
);
INSERT INTO "queue_leases" VALUES('prune','host-3-cccccccc',1,'2026-11-16 13:17:17.000');
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
INSERT INTO "runs" VALUES('hrrr','20261116_06','[0, 1]',1,'arriving','2026-11-16 12:17:17.000','2026-11-16 12:17:17.000',NULL);
CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL);
INSERT INTO "schema_migrations" VALUES(1,'2026-11-18 00:30:01.034');
INSERT INTO "schema_migrations" VALUES(2,'2026-11-18 00:30:01.034');
INSERT INTO "schema_migrations" VALUES(1001,'2026-11-18 00:30:01.034');
INSERT INTO "schema_migrations" VALUES(1002,'2026-11-18 00:30:01.034');
CREATE TABLE tiles (
  model_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  region TEXT NOT NULL,
  hour INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  built_at TEXT NOT NULL,
  PRIMARY KEY (model_id, run_id, region, hour)
) WITHOUT ROWID;
INSERT INTO "tiles" VALUES('hrrr','20261116_06','ne',0,77,'2026-11-16 12:17:17.000');
CREATE TABLE trigger_firings (
  trigger_id INTEGER NOT NULL REFERENCES job_triggers(id) ON DELETE CASCADE,
  fire_key TEXT NOT NULL,
  job_id INTEGER,
  fired_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  PRIMARY KEY (trigger_id, fire_key)
) WITHOUT ROWID;
INSERT INTO "trigger_firings" VALUES(1,'2026-11-16T12:10:00.000Z',20,'2026-11-16 12:17:17.000');
INSERT INTO "trigger_firings" VALUES(2,'id ping-1',18,'2026-11-16 12:02:17.000');
INSERT INTO "trigger_firings" VALUES(2,'told cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176',19,'2026-11-16 12:02:17.000');
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
INSERT INTO "workers" VALUES('host-2-bbbbbbbb','2026-11-16 12:00:26.000',8,'host','0.1.0','["sleep"]',1,'active','2026-11-16 12:00:26.000');
INSERT INTO "workers" VALUES('host-3-cccccccc','2026-11-16 12:02:08.000',9,'host','0.1.0','["sleep"]',1,'active','2026-11-16 12:02:08.000');
CREATE INDEX jobs_ready ON jobs (type, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0;
CREATE INDEX jobs_group ON jobs (type, group_key, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND group_key IS NOT NULL;
CREATE INDEX jobs_due ON jobs (next_run_at) WHERE status = 'pending' AND next_run_at IS NOT NULL;
CREATE INDEX jobs_waiting ON jobs (id) WHERE status = 'pending' AND deps_left > 0;
CREATE INDEX jobs_moved ON jobs (priority, position) WHERE status = 'pending' AND position <> 0;
CREATE INDEX jobs_unhappy ON jobs (status, id) WHERE status IN ('failed','cancelled');
CREATE INDEX jobs_lease ON jobs (lease_expires_at) WHERE status = 'processing';
CREATE INDEX jobs_finished ON jobs (completed_at) WHERE completed_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_dedupe ON jobs (tenant_id, dedupe_key)
  WHERE dedupe_key IS NOT NULL AND status IN ('pending','processing');
CREATE INDEX jobs_correlation ON jobs (correlation_id, type, status) WHERE correlation_id IS NOT NULL;
CREATE INDEX jobs_retry_of ON jobs (retry_of) WHERE retry_of IS NOT NULL;
CREATE UNIQUE INDEX direct_reservations_one ON direct_reservations (scope) WHERE status = 'ACTIVE';
CREATE INDEX job_triggers_event ON job_triggers (event_name) WHERE trigger_type='event' AND is_enabled=1;
CREATE INDEX job_triggers_due ON job_triggers (next_trigger_at) WHERE trigger_type='schedule' AND is_enabled=1;
CREATE INDEX job_dependencies_job ON job_dependencies (job_id);
CREATE VIEW job_runs AS SELECT job_id, attempt_no AS run_id, status, started_at, finished_at, exit_code,
  error_text AS error, artifacts, log_path FROM job_attempts;
CREATE TRIGGER jobs_count_ins AFTER INSERT ON jobs WHEN NEW.status NOT IN ('pending','processing') BEGIN
  INSERT INTO job_counts VALUES (NEW.type, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_del AFTER DELETE ON jobs WHEN OLD.status NOT IN ('pending','processing') BEGIN
  UPDATE job_counts SET n = n - 1 WHERE type = OLD.type AND status = OLD.status;
END;
CREATE TRIGGER jobs_count_upd AFTER UPDATE OF status, type ON jobs
  WHEN OLD.status <> NEW.status AND 'processing' <> NEW.status OR OLD.type <> NEW.type BEGIN
  UPDATE job_counts SET n = n - 1 WHERE type = OLD.type AND status = OLD.status;
  INSERT INTO job_counts SELECT NEW.type, NEW.status, 1 WHERE NEW.status NOT IN ('pending','processing')
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('jobs',20);
INSERT INTO "sqlite_sequence" VALUES('job_triggers',2);
COMMIT;
