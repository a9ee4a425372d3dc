-- The outbox: what has happened, written in the transaction that made it happen.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  tenant_id TEXT NOT NULL DEFAULT 'global',
  payload TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload)),
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
  job_id INTEGER,                           -- the job whose attempt caused it
  event_key TEXT,                           -- the id that was given with `events emit --id`
  dispatched_at TEXT                        -- NULL: its triggers and webhooks are still to be looked for
);
CREATE INDEX events_undispatched ON events (id) WHERE dispatched_at IS NULL;
CREATE INDEX events_name ON events (name, id);
CREATE INDEX events_time ON events (created_at);
CREATE UNIQUE INDEX events_key ON events (tenant_id, name, event_key) WHERE event_key IS NOT NULL;

-- Events that come with every attempt or tile are recorded only if somebody wants them.
CREATE TABLE recorded_events (name TEXT PRIMARY KEY) WITHOUT ROWID;

-- What has a beginning and an end, such as a full disk: each is published once.
CREATE TABLE conditions (
  name TEXT NOT NULL,
  subject TEXT NOT NULL,
  began_at TEXT NOT NULL,
  PRIMARY KEY (name, subject)
) WITHOUT ROWID;

ALTER TABLE worker_heartbeats ADD COLUMN lost_at TEXT;  -- when it was found lost; NULL while it lives

-- Triggers, so that manual statements publish as well. The error was redacted before it was stored.
CREATE TRIGGER jobs_publish_failure AFTER UPDATE OF status ON jobs
  WHEN NEW.status = 'failed' AND OLD.status <> 'failed' BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload) VALUES ('job.failed', NEW.tenant_id, NEW.id,
    coalesce(strftime('%Y-%m-%d %H:%M:%f', NEW.completed_at), strftime('%Y-%m-%d %H:%M:%f','now')), json_object(
    'job_id', NEW.id, 'type', NEW.type, 'attempt_no', NEW.attempt_no, 'error', substr(NEW.error_message, 1, 2000),
    'dead_lettered', json(iif(NEW.dead_lettered_at IS NULL, 'false', 'true')), 'correlation_id', NEW.correlation_id));
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'job.dead_lettered', NEW.tenant_id, NEW.id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', NEW.completed_at), strftime('%Y-%m-%d %H:%M:%f','now')), json_object(
      'job_id', NEW.id, 'type', NEW.type, 'attempts', NEW.attempt_no, 'error', substr(NEW.error_message, 1, 2000),
      'correlation_id', NEW.correlation_id)
    WHERE NEW.dead_lettered_at IS NOT NULL;
END;
CREATE TRIGGER attempts_publish_recovery AFTER UPDATE OF status ON job_attempts
  WHEN NEW.status = 'lost' AND OLD.status = 'running' BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'job.recovered', tenant_id, id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', NEW.finished_at), strftime('%Y-%m-%d %H:%M:%f','now')),
      json_object('job_id', id, 'type', type, 'attempt_no', NEW.attempt_no,
      'worker_id', NEW.worker_id, 'status', status, 'error', substr(NEW.error_text, 1, 2000))
    FROM jobs WHERE id = NEW.job_id;
END;
CREATE TRIGGER attempts_publish_meter AFTER UPDATE OF status ON job_attempts
  WHEN OLD.status = 'running' AND NEW.status <> 'running'
    AND (EXISTS (SELECT 1 FROM recorded_events WHERE name = 'attempt.metered')
      OR EXISTS (SELECT 1 FROM job_triggers WHERE trigger_type = 'event' AND is_enabled = 1
                 AND event_name = 'attempt.metered')) BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'attempt.metered', tenant_id, id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', NEW.finished_at), strftime('%Y-%m-%d %H:%M:%f','now')),
      json_object('job_id', id, 'type', type, 'tenant_id', tenant_id,
      'attempt_no', NEW.attempt_no, 'status', NEW.status, 'exit_code', NEW.exit_code, 'worker_id', NEW.worker_id,
      'wait_seconds', round(max(0, julianday(NEW.started_at) - julianday(coalesce(ready_at, created_at))) * 86400, 3),
      'run_seconds', round(max(0, julianday(NEW.finished_at) - julianday(NEW.started_at)) * 86400, 3),
      'bytes', NULL)
    FROM jobs WHERE id = NEW.job_id;
END;
