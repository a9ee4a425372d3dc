-- PostgreSQL reads checks and conditions of triggers from their text in every statement (see 0026). What the two long checks
-- of jobs refused is refused by the triggers that run anyway, and there is one trigger less with a long condition: what
-- follows from a change is done by the one before it. When that runs, the row is locked already.
CREATE OR REPLACE FUNCTION gribmill_place_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last bigint;
BEGIN
  NEW.args := coalesce(NEW.args::json, '{}')::text;
  IF NEW.status NOT IN ('pending','processing','completed','failed','cancelled') THEN
    RAISE EXCEPTION 'jobs have no status %', NEW.status USING ERRCODE = 'check_violation';
  ELSIF NEW.source NOT IN ('manual','event','schedule','system') THEN
    RAISE EXCEPTION 'jobs have no source %', NEW.source USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.position = 0 AND NEW.status = 'pending' THEN
    IF row_security_active('jobs') THEN
      last := gribmill_last_position(NEW.priority);
    ELSE
      SELECT max(position) INTO last FROM jobs WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority;
    END IF;
    IF last > 0 THEN
      NEW.position := last + 100;
    END IF;
  END IF;
  RETURN NEW;
END $$;

-- Checks, what a manual statement changes, and what follows from a change, in this order.
CREATE OR REPLACE FUNCTION gribmill_change_manually() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  completed_by_queue boolean := NEW.status = 'completed' AND OLD.status = 'processing'
    AND OLD.lease_expires_at IS NOT NULL AND NEW.lease_expires_at IS NULL AND NEW.worker_id IS NULL;
BEGIN
  IF NEW.status NOT IN ('pending','processing','completed','failed','cancelled') THEN
    RAISE EXCEPTION 'jobs have no status %', NEW.status USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.status NOT IN ('pending','processing') AND NEW.status <> OLD.status
    AND NOT (OLD.status = 'failed' AND NEW.status = 'pending') THEN
    RAISE EXCEPTION 'a finished job cannot be changed; only a failed one can be reset to pending'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  -- A claim without a lease: the job gets an attempt, and no longer waits for anything.
  IF NEW.status = 'processing' AND OLD.status <> 'processing' AND NEW.lease_expires_at IS NULL
    AND OLD.status IN ('pending','failed') THEN
    NEW.attempt_no := NEW.attempt_no + 1;
    NEW.batch_id := NEW.id;
    NEW.deps_left := 0;
    NEW.next_run_at := NULL;
    NEW.started_at := coalesce(NEW.started_at, gribmill_now());
    DELETE FROM job_dependencies WHERE job_id = NEW.id;
    INSERT INTO job_attempts (job_id, attempt_no, worker_id, started_at)
    VALUES (NEW.id, NEW.attempt_no, coalesce(NEW.worker_id, 'manual'), NEW.started_at);
  END IF;
  -- A reset: the next attempt can start now.
  IF NEW.status = 'pending' AND (OLD.status = 'failed' OR OLD.status = 'processing'
    AND (NEW.lease_expires_at IS NOT NULL OR OLD.lease_expires_at IS NULL)) THEN
    UPDATE job_attempts SET ready_at = coalesce(OLD.ready_at, OLD.created_at)
    WHERE job_id = NEW.id AND attempt_no = NEW.attempt_no;
    NEW.ready_at := gribmill_now();
  END IF;
  -- The end of an attempt that the queue itself did not write.
  IF OLD.status = 'processing' AND NEW.status <> 'processing'
    AND (NEW.lease_expires_at IS NOT NULL OR OLD.lease_expires_at IS NULL) THEN
    UPDATE job_attempts SET finished_at = gribmill_now(),
      status = CASE NEW.status WHEN 'completed' THEN 'succeeded' WHEN 'pending' THEN 'lost' ELSE NEW.status END,
      error_text = CASE WHEN NEW.status = 'completed' THEN NULL
                        ELSE coalesce(NEW.error_message, 'ended by a manual statement') END
    WHERE job_id = NEW.id AND attempt_no = NEW.attempt_no AND status = 'running';
    NEW.lease_expires_at := NULL;
    IF NEW.status = 'failed' AND NEW.dead_lettered_at IS NULL AND NEW.cancel_requested_at IS NULL
      AND NEW.retry_count + 1 < NEW.max_attempts
      AND EXISTS (SELECT 1 FROM job_definitions WHERE key = NEW.type AND retry_as = 'new_job') THEN
      INSERT INTO ended_parents (job_id, retry_due) VALUES (NEW.id, 1) ON CONFLICT (job_id) DO UPDATE SET retry_due = 1;
    END IF;
  END IF;
  IF NEW.status = 'pending'
    AND (NEW.dead_lettered_at IS NOT NULL OR NEW.completed_at IS NOT NULL OR NEW.worker_id IS NOT NULL) THEN
    NEW.dead_lettered_at := NULL;
    NEW.completed_at := NULL;
    NEW.worker_id := NULL;
    NEW.cancel_requested_at := NULL;
  END IF;
  -- A completion by the queue counts the jobs of `global` itself (`jobs/complete`) ...
  IF (OLD.status <> NEW.status OR OLD.type <> NEW.type OR OLD.tenant_id <> NEW.tenant_id)
    AND NOT (completed_by_queue AND OLD.tenant_id = 'global' AND NEW.tenant_id = 'global') THEN
    IF OLD.tenant_id <> 'global' OR OLD.status NOT IN ('pending','processing') THEN
      INSERT INTO job_count_changes VALUES (OLD.tenant_id, OLD.type, OLD.status, -1);
    END IF;
    IF NEW.tenant_id <> 'global' OR NEW.status NOT IN ('pending','processing') THEN
      INSERT INTO job_count_changes VALUES (NEW.tenant_id, NEW.type, NEW.status, 1);
    END IF;
  END IF;
  -- ... and looks for dependents itself (`dependencies/note_ended`).
  IF OLD.status IN ('pending','processing') AND NEW.status NOT IN ('pending','processing')
    AND NOT completed_by_queue
    AND (EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = NEW.id)
      OR NEW.status = 'failed' AND NEW.group_id IS NOT NULL
        AND EXISTS (SELECT 1 FROM job_groups WHERE id = NEW.group_id AND on_failure = 'stop')) THEN
    INSERT INTO ended_parents VALUES (NEW.id) ON CONFLICT DO NOTHING;
  END IF;
  -- The error was redacted before it was stored.
  IF NEW.status = 'failed' AND OLD.status <> 'failed' THEN
    INSERT INTO events (name, tenant_id, job_id, created_at, payload) VALUES ('job.failed', NEW.tenant_id, NEW.id,
      coalesce(NEW.completed_at, gribmill_now()), json_build_object(
      'job_id', NEW.id, 'type', NEW.type, 'attempt_no', NEW.attempt_no, 'error', left(NEW.error_message, 2000),
      'dead_lettered', NEW.dead_lettered_at IS NOT NULL, 'correlation_id', NEW.correlation_id)::text);
    IF NEW.dead_lettered_at IS NOT NULL THEN
      INSERT INTO events (name, tenant_id, job_id, created_at, payload) VALUES ('job.dead_lettered', NEW.tenant_id,
        NEW.id, coalesce(NEW.completed_at, gribmill_now()), json_build_object(
        'job_id', NEW.id, 'type', NEW.type, 'attempts', NEW.attempt_no, 'error', left(NEW.error_message, 2000),
        'correlation_id', NEW.correlation_id)::text);
    END IF;
  END IF;
  RETURN NEW;
END $$;
-- What follows concerns rows that a tenant does not see (see 0033).
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION gribmill_change_manually() SECURITY DEFINER SET search_path = %I, pg_temp',
    current_schema());
END $$;
DROP TRIGGER jobs_changed ON jobs;
DROP FUNCTION gribmill_follow_change();
DROP TRIGGER jobs_changed_manually ON jobs;
-- All but a claim with a lease, and a completion that ends one, of a job of `global`.
CREATE TRIGGER jobs_changed_manually BEFORE UPDATE OF status, type, tenant_id ON jobs FOR EACH ROW
  WHEN (NOT (OLD.tenant_id = 'global' AND NEW.tenant_id = 'global'
    AND (OLD.status = 'pending' AND NEW.status = 'processing' AND NEW.lease_expires_at IS NOT NULL
      OR OLD.status = 'processing' AND NEW.status = 'completed' AND OLD.lease_expires_at IS NOT NULL
        AND NEW.lease_expires_at IS NULL AND NEW.worker_id IS NULL)))
  EXECUTE FUNCTION gribmill_change_manually();

CREATE FUNCTION gribmill_check_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.source NOT IN ('manual','event','schedule','system') THEN
    RAISE EXCEPTION 'jobs have no source %', NEW.source USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER jobs_source_checked BEFORE UPDATE OF source ON jobs FOR EACH ROW
  EXECUTE FUNCTION gribmill_check_source();
ALTER TABLE jobs DROP CONSTRAINT jobs_status_check, DROP CONSTRAINT jobs_source_check;
