-- The base specification's statements (claim, complete, fail, reset) run unchanged on every row: also on one that a
-- worker holds, and on dead letters. Triggers keep the added columns and the attempts consistent with them; the fence
-- refuses the late report of a worker. The conditions of the triggers are false for the queue's own statements.

-- Two table constraints refused such statements. Constraints can be changed in the schema's text, because no row has to
-- be rewritten for it.
PRAGMA writable_schema = ON;
UPDATE sqlite_master SET sql = replace(replace(replace(sql,
  'CHECK (lease_expires_at IS NULL OR status = ''processing'')', 'CHECK (attempt_no >= 0)'),
  'CHECK (dead_lettered_at IS NULL OR status = ''failed'')', 'CHECK (deps_left >= 0)'),
  'TEXT    NOT NULL DEFAULT ''{}''', 'TEXT    NOT NULL ON CONFLICT REPLACE DEFAULT ''{}''')
WHERE type = 'table' AND name = 'jobs';
PRAGMA writable_schema = RESET;

ALTER TABLE jobs ADD COLUMN ready_at TEXT;          -- when it became able to run, if that was after created_at
ALTER TABLE jobs ADD COLUMN changed_at TEXT;        -- of changes that set no other time
ALTER TABLE jobs ADD COLUMN updated_at TEXT GENERATED ALWAYS AS (
  max(created_at, coalesce(started_at, ''), coalesce(completed_at, ''), coalesce(changed_at, ''))) VIRTUAL;
ALTER TABLE job_definitions ADD COLUMN backoff_jitter REAL NOT NULL DEFAULT 0.1;
ALTER TABLE workers ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';

-- What a worker runs is read from the jobs themselves, so that it is true at every moment and no claim has to write it.
ALTER TABLE workers RENAME TO worker_heartbeats;
CREATE VIEW workers AS SELECT id, last_heartbeat,
  (SELECT min(j.id) FROM jobs j INDEXED BY jobs_lease WHERE j.status = 'processing' AND j.worker_id = w.id)
    AS current_job_id,
  hostname, version, types,
  (SELECT count(*) FROM jobs j INDEXED BY jobs_lease WHERE j.status = 'processing' AND j.worker_id = w.id)
    AS running_count,
  state, started_at, metadata
FROM worker_heartbeats w;
CREATE TRIGGER workers_inserted INSTEAD OF INSERT ON workers BEGIN
  INSERT INTO worker_heartbeats (id, last_heartbeat, hostname, version, types, state, started_at, metadata)
  VALUES (NEW.id, coalesce(NEW.last_heartbeat, strftime('%Y-%m-%d %H:%M:%f','now')), coalesce(NEW.hostname, ''),
    coalesce(NEW.version, ''), coalesce(NEW.types, '[]'), coalesce(NEW.state, 'active'),
    coalesce(NEW.started_at, strftime('%Y-%m-%d %H:%M:%f','now')), coalesce(NEW.metadata, '{}'))
  ON CONFLICT (id) DO UPDATE SET last_heartbeat = excluded.last_heartbeat, state = excluded.state;
END;
CREATE TRIGGER workers_updated INSTEAD OF UPDATE ON workers BEGIN
  UPDATE worker_heartbeats SET last_heartbeat = NEW.last_heartbeat, hostname = NEW.hostname, version = NEW.version,
    types = NEW.types, state = NEW.state, started_at = NEW.started_at, metadata = NEW.metadata
  WHERE id = OLD.id;
END;
CREATE TRIGGER workers_deleted INSTEAD OF DELETE ON workers BEGIN
  DELETE FROM worker_heartbeats WHERE id = OLD.id;
END;

-- The window of a schedule had no effect until now; that of events stays.
UPDATE job_triggers SET dedupe_window_seconds = 0 WHERE trigger_type = 'schedule';

-- Jobs that have ended and whose dependents have not been released or cancelled yet.
CREATE TABLE ended_parents (job_id INTEGER PRIMARY KEY);
CREATE TRIGGER jobs_parent_ended AFTER UPDATE OF status ON jobs
  WHEN OLD.status IN ('pending','processing') AND NEW.status NOT IN ('pending','processing')
    AND EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = NEW.id) BEGIN
  INSERT OR IGNORE INTO ended_parents VALUES (NEW.id);
END;
CREATE TRIGGER jobs_deleted BEFORE DELETE ON jobs BEGIN
  UPDATE jobs SET deps_left = deps_left - 1 WHERE status = 'pending' AND deps_left > 0
    AND OLD.status IN ('pending','processing')
    AND id IN (SELECT job_id FROM job_dependencies WHERE parent_id = OLD.id AND on_failure = 'ignore');
  UPDATE jobs SET status = 'cancelled', completed_at = strftime('%Y-%m-%d %H:%M:%f','now'), next_run_at = NULL,
    error_message = 'parent job ' || OLD.id || ' was deleted'
  WHERE status = 'pending' AND OLD.status IN ('pending','processing')
    AND id IN (SELECT job_id FROM job_dependencies WHERE parent_id = OLD.id AND on_failure = 'cancel');
  -- As the foreign keys do, which are off in a plain shell.
  DELETE FROM job_dependencies WHERE parent_id = OLD.id;
  DELETE FROM job_attempts WHERE job_id = OLD.id;
END;

-- A claim without a lease: the job gets an attempt, and no longer waits for anything.
CREATE TRIGGER jobs_claimed_manually AFTER UPDATE OF status ON jobs
  WHEN NEW.status = 'processing' AND OLD.status <> 'processing' AND NEW.lease_expires_at IS NULL BEGIN
  UPDATE jobs SET attempt_no = attempt_no + 1, batch_id = id, deps_left = 0, next_run_at = NULL,
    started_at = CASE WHEN started_at IS NULL THEN strftime('%Y-%m-%d %H:%M:%f','now')
                      WHEN started_at NOT GLOB '*[^0-9.]*'
                      THEN coalesce(strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch'), started_at)
                      ELSE coalesce(strftime('%Y-%m-%d %H:%M:%f', started_at), started_at) END
  WHERE id = NEW.id;
  DELETE FROM job_dependencies WHERE job_id = NEW.id;
  INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at)
    SELECT id, attempt_no, coalesce(worker_id, 'manual'), started_at FROM jobs WHERE id = NEW.id;
END;
-- The end of an attempt that the queue itself did not write.
CREATE TRIGGER jobs_ended_manually AFTER UPDATE OF status ON jobs
  WHEN OLD.status = 'processing' AND NEW.status <> 'processing'
    AND (NEW.lease_expires_at IS NOT NULL OR OLD.lease_expires_at IS NULL) BEGIN
  UPDATE job_attempts SET finished_at = strftime('%Y-%m-%d %H:%M:%f','now'),
    status = CASE NEW.status WHEN 'completed' THEN 'succeeded' WHEN 'pending' THEN 'lost' ELSE NEW.status END,
    error_text = CASE WHEN NEW.status = 'completed' THEN NULL
                      ELSE coalesce(NEW.error_message, 'ended by a manual statement') END
  WHERE job_id = NEW.id AND attempt_no = NEW.attempt_no AND status = 'running';
  UPDATE jobs SET lease_expires_at = NULL WHERE id = NEW.id;
END;
CREATE TRIGGER jobs_reset_manually AFTER UPDATE OF status ON jobs
  WHEN NEW.status = 'pending'
    AND (NEW.dead_lettered_at IS NOT NULL OR NEW.completed_at IS NOT NULL OR NEW.worker_id IS NOT NULL) BEGIN
  UPDATE jobs SET dead_lettered_at = NULL, completed_at = NULL, worker_id = NULL, cancel_requested_at = NULL
  WHERE id = NEW.id;
END;
-- Times are compared as text.
CREATE TRIGGER jobs_created_manually AFTER INSERT ON jobs
  WHEN substr(NEW.created_at, 11, 1) <> ' ' AND NEW.status = 'pending' BEGIN
  UPDATE jobs SET created_at = CASE WHEN created_at NOT GLOB '*[^0-9.]*'
    THEN coalesce(strftime('%Y-%m-%d %H:%M:%f', created_at, 'unixepoch'), created_at)
    ELSE coalesce(strftime('%Y-%m-%d %H:%M:%f', created_at), created_at) END
  WHERE id = NEW.id;
END;

-- What has begun keeps its arguments; what has ended stays as it is, except that a failed job can be reset.
CREATE TRIGGER jobs_keep_arguments BEFORE UPDATE OF type, args, created_at, tenant_id ON jobs
  WHEN OLD.status <> 'pending' AND (OLD.type IS NOT NEW.type OR OLD.args IS NOT NEW.args
    OR OLD.created_at IS NOT NEW.created_at OR OLD.tenant_id IS NOT NEW.tenant_id) BEGIN
  SELECT RAISE(ABORT, 'type, args, created_at and tenant_id of a job cannot be changed after it has started');
END;
CREATE TRIGGER jobs_stay_ended AFTER UPDATE OF status ON jobs
  WHEN OLD.status NOT IN ('pending','processing') AND NEW.status <> OLD.status
    AND NOT (OLD.status = 'failed' AND NEW.status = 'pending') BEGIN
  SELECT RAISE(ABORT, 'a finished job cannot be changed; only a failed one can be reset to pending');
END;
CREATE TRIGGER job_attempts_stay_ended
  AFTER UPDATE OF job_id, attempt_no, worker_id, pid, started_at, finished_at, status, exit_code, stdout_tail,
    stderr_tail, error_text, artifacts ON job_attempts
  WHEN OLD.status <> 'running' BEGIN
  SELECT RAISE(ABORT, 'an attempt that has ended cannot be changed');
END;

DROP VIEW job_runs;
CREATE VIEW job_runs AS SELECT a.job_id || '-' || a.attempt_no AS run_id, a.job_id, a.attempt_no,
  CASE a.status WHEN 'succeeded' THEN 'COMPLETED' WHEN 'running' THEN 'RUNNING' WHEN 'cancelled' THEN 'CANCELLED'
    WHEN 'skipped' THEN 'SKIPPED' WHEN 'snoozed' THEN 'SKIPPED' ELSE 'FAILED' END AS status,
  j.args AS params_snapshot, a.worker_id, a.started_at, a.finished_at, a.exit_code, a.error_text AS error, a.artifacts,
  a.log_path
FROM job_attempts a JOIN jobs j ON j.id = a.job_id;
