-- SQLite enters a program for each trigger of each row, only to find that its condition is false: the more there is in a
-- trigger, the longer that takes. So one small trigger watches each table. Its condition is false for what the queue does
-- with most jobs; for the rest it inserts into a view, whose triggers do the work.

DROP TRIGGER jobs_count_ins;
DROP TRIGGER jobs_created_manually;
DROP TRIGGER jobs_behind_parked;
CREATE VIEW job_arrivals (job_id, tenant_id, type, status, created_at, priority, position) AS
  SELECT id, tenant_id, type, status, created_at, priority, position FROM jobs;
CREATE TRIGGER jobs_arrived AFTER INSERT ON jobs
  WHEN NEW.tenant_id <> 'global' OR NEW.status <> 'pending' OR substr(NEW.created_at, 11, 1) <> ' '
    OR NEW.position = 0 AND EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_moved
      WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority AND position > 0) BEGIN
  INSERT INTO job_arrivals
    VALUES (NEW.id, NEW.tenant_id, NEW.type, NEW.status, NEW.created_at, NEW.priority, NEW.position);
END;
CREATE TRIGGER jobs_count_ins INSTEAD OF INSERT ON job_arrivals
  WHEN NEW.tenant_id <> 'global' OR NEW.status NOT IN ('pending','processing') BEGIN
  INSERT INTO job_counts VALUES (NEW.tenant_id, NEW.type, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- Times are compared as text.
CREATE TRIGGER jobs_created_manually INSTEAD OF INSERT ON job_arrivals
  WHEN substr(NEW.created_at, 11, 1) <> ' ' AND NEW.status = 'pending' BEGIN
  UPDATE jobs SET created_at = CASE WHEN created_at NOT GLOB '*[^0-9.]*'
    THEN coalesce(strftime('%Y-%m-%d %H:%M:%f', created_at, 'unixepoch'), created_at)
    ELSE coalesce(strftime('%Y-%m-%d %H:%M:%f', created_at), created_at) END
  WHERE id = NEW.job_id;
END;
-- While a job of a priority is parked behind the others, new jobs of that priority go behind it: positions are in use.
CREATE TRIGGER jobs_behind_parked INSTEAD OF INSERT ON job_arrivals
  WHEN NEW.position = 0 AND NEW.status = 'pending'
    AND EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_moved
      WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority AND position > 0) BEGIN
  UPDATE jobs SET position = 100 + (SELECT max(position) FROM jobs INDEXED BY jobs_moved
    WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority)
  WHERE id = NEW.job_id;
END;

DROP TRIGGER jobs_claimed_manually;
DROP TRIGGER jobs_ended_manually;
DROP TRIGGER jobs_reset_manually;
DROP TRIGGER jobs_stay_ended;
DROP TRIGGER jobs_parent_ended;
DROP TRIGGER jobs_group_failed;
DROP TRIGGER jobs_publish_failure;
CREATE VIEW job_changes (job_id, old_status, new_status, old_lease, new_lease) AS
  SELECT id, status, status, lease_expires_at, lease_expires_at FROM jobs;
-- False for a claim with a lease, for the end of one without failure and dependents, and for its return to pending.
CREATE TRIGGER jobs_changed AFTER UPDATE OF status ON jobs
  WHEN NEW.status = 'processing' AND OLD.status <> 'processing'
      AND (NEW.lease_expires_at IS NULL OR OLD.status <> 'pending')
    OR OLD.status = 'processing' AND NEW.status <> 'processing'
      AND (NEW.lease_expires_at IS NOT NULL OR OLD.lease_expires_at IS NULL OR NEW.status = 'failed'
        OR NEW.status <> 'pending' AND EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = NEW.id))
    OR OLD.status <> 'processing' AND NEW.status <> 'processing' AND NEW.status <> OLD.status BEGIN
  INSERT INTO job_changes VALUES (NEW.id, OLD.status, NEW.status, OLD.lease_expires_at, NEW.lease_expires_at);
END;
CREATE TRIGGER jobs_stay_ended INSTEAD OF INSERT ON job_changes
  WHEN NEW.old_status NOT IN ('pending','processing')
    AND NOT (NEW.old_status = 'failed' AND NEW.new_status = 'pending') BEGIN
  SELECT RAISE(ABORT, 'a finished job cannot be changed; only a failed one can be reset to pending');
END;
-- A claim without a lease: the job gets an attempt, and no longer waits for anything.
CREATE TRIGGER jobs_claimed_manually INSTEAD OF INSERT ON job_changes
  WHEN NEW.new_status = 'processing' AND NEW.new_lease IS NULL BEGIN
  UPDATE jobs SET attempt_no = attempt_no + 1, batch_id = id, deps_left = 0, next_run_at = NULL,
    started_at = CASE WHEN started_at IS NULL THEN strftime('%Y-%m-%d %H:%M:%f','now')
                      WHEN started_at NOT GLOB '*[^0-9.]*'
                      THEN coalesce(strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch'), started_at)
                      ELSE coalesce(strftime('%Y-%m-%d %H:%M:%f', started_at), started_at) END
  WHERE id = NEW.job_id;
  DELETE FROM job_dependencies WHERE job_id = NEW.job_id;
  INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at)
    SELECT id, attempt_no, coalesce(worker_id, 'manual'), started_at FROM jobs WHERE id = NEW.job_id;
END;
-- The end of an attempt that the queue itself did not write.
CREATE TRIGGER jobs_ended_manually INSTEAD OF INSERT ON job_changes
  WHEN NEW.old_status = 'processing' AND (NEW.new_lease IS NOT NULL OR NEW.old_lease IS NULL) BEGIN
  UPDATE job_attempts SET finished_at = strftime('%Y-%m-%d %H:%M:%f','now'),
    status = CASE NEW.new_status WHEN 'completed' THEN 'succeeded' WHEN 'pending' THEN 'lost' ELSE NEW.new_status END,
    error_text = CASE WHEN NEW.new_status <> 'completed'
      THEN coalesce((SELECT error_message FROM jobs WHERE id = NEW.job_id), 'ended by a manual statement') END
  WHERE job_id = NEW.job_id AND attempt_no = (SELECT attempt_no FROM jobs WHERE id = NEW.job_id) AND status = 'running';
  UPDATE jobs SET lease_expires_at = NULL WHERE id = NEW.job_id;
END;
CREATE TRIGGER jobs_reset_manually INSTEAD OF INSERT ON job_changes WHEN NEW.new_status = 'pending' BEGIN
  UPDATE jobs SET dead_lettered_at = NULL, completed_at = NULL, worker_id = NULL, cancel_requested_at = NULL
  WHERE id = NEW.job_id AND (dead_lettered_at IS NOT NULL OR completed_at IS NOT NULL OR worker_id IS NOT NULL);
END;
-- A failure stops a group with on_failure = 'stop'. It is settled like the end of a parent.
CREATE TRIGGER jobs_parent_ended INSTEAD OF INSERT ON job_changes
  WHEN NEW.new_status NOT IN ('pending','processing') BEGIN
  INSERT OR IGNORE INTO ended_parents SELECT id FROM jobs
    WHERE id = NEW.job_id AND (EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = NEW.job_id)
      OR status = 'failed' AND EXISTS (SELECT 1 FROM job_groups g WHERE g.id = jobs.group_id AND g.on_failure = 'stop'));
END;
-- The error was redacted before it was stored.
CREATE TRIGGER jobs_publish_failure INSTEAD OF INSERT ON job_changes WHEN NEW.new_status = 'failed' BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'job.failed', tenant_id, id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', completed_at), strftime('%Y-%m-%d %H:%M:%f','now')), json_object(
      'job_id', id, 'type', type, 'attempt_no', attempt_no, 'error', substr(error_message, 1, 2000),
      'dead_lettered', json(iif(dead_lettered_at IS NULL, 'false', 'true')), 'correlation_id', correlation_id)
    FROM jobs WHERE id = NEW.job_id;
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'job.dead_lettered', tenant_id, id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', completed_at), strftime('%Y-%m-%d %H:%M:%f','now')), json_object(
      'job_id', id, 'type', type, 'attempts', attempt_no, 'error', substr(error_message, 1, 2000),
      'correlation_id', correlation_id)
    FROM jobs WHERE id = NEW.job_id AND dead_lettered_at IS NOT NULL;
END;
-- Nothing is taken off for jobs of `global` that waited or ran: they are not counted.
DROP TRIGGER jobs_count_upd;
CREATE TRIGGER jobs_count_upd AFTER UPDATE OF status, type, tenant_id ON jobs
  WHEN OLD.status <> NEW.status AND ('processing' <> NEW.status OR NEW.tenant_id <> 'global') OR OLD.type <> NEW.type
    OR OLD.tenant_id <> NEW.tenant_id BEGIN
  UPDATE job_counts SET n = n - 1 WHERE (OLD.tenant_id <> 'global' OR OLD.status NOT IN ('pending','processing'))
    AND tenant_id = OLD.tenant_id AND type = OLD.type AND status = OLD.status;
  INSERT INTO job_counts SELECT NEW.tenant_id, NEW.type, NEW.status, 1
    WHERE NEW.tenant_id <> 'global' OR NEW.status NOT IN ('pending','processing')
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

DROP TRIGGER job_attempts_stay_ended;
DROP TRIGGER attempts_publish_recovery;
DROP TRIGGER attempts_publish_meter;
CREATE VIEW attempt_changes (job_id, attempt_no, old_status, new_status) AS
  SELECT job_id, attempt_no, status, status FROM job_attempts;
-- Events of every attempt are wanted while this has a row.
CREATE VIEW meters AS SELECT 1 AS wanted
  WHERE EXISTS (SELECT 1 FROM recorded_events WHERE name = 'attempt.metered')
    OR EXISTS (SELECT 1 FROM job_triggers WHERE trigger_type = 'event' AND is_enabled = 1
               AND event_name = 'attempt.metered')
    OR EXISTS (SELECT 1 FROM webhooks w, json_each(w.events) wanted
               WHERE w.is_enabled = 1 AND 'attempt.metered' GLOB wanted.value);
CREATE TRIGGER job_attempts_changed
  AFTER UPDATE OF job_id, attempt_no, worker_id, pid, started_at, finished_at, status, exit_code, stdout_tail,
    stderr_tail, error_text, artifacts ON job_attempts
  WHEN OLD.status <> 'running' OR NEW.status = 'lost'
    OR NEW.status <> 'running' AND EXISTS (SELECT 1 FROM meters) BEGIN
  INSERT INTO attempt_changes VALUES (NEW.job_id, NEW.attempt_no, OLD.status, NEW.status);
END;
CREATE TRIGGER job_attempts_stay_ended INSTEAD OF INSERT ON attempt_changes WHEN NEW.old_status <> 'running' BEGIN
  SELECT RAISE(ABORT, 'an attempt that has ended cannot be changed');
END;
CREATE TRIGGER attempts_publish_recovery INSTEAD OF INSERT ON attempt_changes WHEN NEW.new_status = 'lost' BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'job.recovered', j.tenant_id, j.id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', a.finished_at), strftime('%Y-%m-%d %H:%M:%f','now')),
      json_object('job_id', j.id, 'type', j.type, 'attempt_no', a.attempt_no,
      'worker_id', a.worker_id, 'status', j.status, 'error', substr(a.error_text, 1, 2000))
    FROM job_attempts a JOIN jobs j ON j.id = a.job_id
    WHERE a.job_id = NEW.job_id AND a.attempt_no = NEW.attempt_no;
END;
CREATE TRIGGER attempts_publish_meter INSTEAD OF INSERT ON attempt_changes
  WHEN NEW.old_status = 'running' AND EXISTS (SELECT 1 FROM meters) BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'attempt.metered', j.tenant_id, j.id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', a.finished_at), strftime('%Y-%m-%d %H:%M:%f','now')),
      json_object('job_id', j.id, 'type', j.type, 'tenant_id', j.tenant_id,
      'attempt_no', a.attempt_no, 'status', a.status, 'exit_code', a.exit_code, 'worker_id', a.worker_id,
      'wait_seconds', round(max(0, julianday(a.started_at) - julianday(coalesce(j.ready_at, j.created_at))) * 86400, 3),
      'run_seconds', round(max(0, julianday(a.finished_at) - julianday(a.started_at)) * 86400, 3),
      'bytes', NULL)
    FROM job_attempts a JOIN jobs j ON j.id = a.job_id
    WHERE a.job_id = NEW.job_id AND a.attempt_no = NEW.attempt_no;
END;
