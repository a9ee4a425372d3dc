-- Addresses that are told about events, and one row for each event that goes to one of them.
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id TEXT NOT NULL DEFAULT 'global',  -- '*': the events of all tenants
  url TEXT NOT NULL,
  events TEXT NOT NULL CHECK (json_valid(events)),  -- JSON list of names, with asterisks
  secret TEXT NOT NULL,
  is_enabled INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT,
  failing_since TEXT,                       -- NULL: the last delivery succeeded
  last_error TEXT,
  last_delivered_at TEXT,
  created_by TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE TABLE webhook_deliveries (
  webhook_id INTEGER NOT NULL REFERENCES webhooks(id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL REFERENCES events(id) ON DELETE CASCADE,
  job_id INTEGER,                           -- the latest job that delivers it
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending','delivered','failed')),
  http_status INTEGER,
  error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (webhook_id, event_id)
) WITHOUT ROWID;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);

DROP TRIGGER attempts_publish_meter;
CREATE TRIGGER attempts_publish_meter AFTER UPDATE OF status ON job_attempts
  WHEN OLD.status = 'running' AND NEW.status <> 'running'
    AND (EXISTS (SELECT 1 FROM recorded_events WHERE name = 'attempt.metered')
      OR EXISTS (SELECT 1 FROM job_triggers WHERE trigger_type = 'event' AND is_enabled = 1
                 AND event_name = 'attempt.metered')
      OR EXISTS (SELECT 1 FROM webhooks w, json_each(w.events) wanted
                 WHERE w.is_enabled = 1 AND 'attempt.metered' GLOB wanted.value)) BEGIN
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
