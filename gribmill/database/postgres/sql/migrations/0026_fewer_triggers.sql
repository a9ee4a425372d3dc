-- PostgreSQL reads the condition of each trigger, and each check, from its text in every statement: that took a fifth of a
-- claim. So there is one trigger before a change of status and one after it, with the shortest condition that keeps the
-- statements out which the queue runs for every job.

-- What a manual statement changes: the same as before, in the same order.
CREATE FUNCTION gribmill_change_manually() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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
  RETURN NEW;
END $$;
DROP TRIGGER a_jobs_stay_ended ON jobs;
DROP TRIGGER jobs_claimed_manually ON jobs;
DROP TRIGGER jobs_ended_manually ON jobs;
DROP TRIGGER jobs_reset_manually ON jobs;
DROP FUNCTION gribmill_claim_manually();
DROP FUNCTION gribmill_end_manually();
DROP FUNCTION gribmill_reset_manually();
-- All but a claim with a lease, and a completion that ends one.
CREATE TRIGGER jobs_changed_manually BEFORE UPDATE OF status ON jobs FOR EACH ROW
  WHEN (NOT (OLD.status = 'pending' AND NEW.status = 'processing' AND NEW.lease_expires_at IS NOT NULL
    OR OLD.status = 'processing' AND NEW.status = 'completed' AND OLD.lease_expires_at IS NOT NULL
      AND NEW.lease_expires_at IS NULL))
  EXECUTE FUNCTION gribmill_change_manually();

-- What has ended stays as it is: the comparison of migration 0025, in a function.
CREATE FUNCTION gribmill_keep_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status = NEW.status
    AND ((OLD.worker_id, OLD.started_at, OLD.completed_at, OLD.error_message, OLD.retry_count, OLD.attempt_no,
        OLD.max_attempts, OLD.priority, OLD.dead_lettered_at, OLD.source, OLD.source_ref,
        OLD.created_by, OLD.dedupe_key, OLD.requested_by, OLD.timeout_seconds)
      IS DISTINCT FROM (NEW.worker_id, NEW.started_at, NEW.completed_at, NEW.error_message, NEW.retry_count, NEW.attempt_no,
        NEW.max_attempts, NEW.priority, NEW.dead_lettered_at, NEW.source, NEW.source_ref,
        NEW.created_by, NEW.dedupe_key, NEW.requested_by, NEW.timeout_seconds)
      OR OLD.correlation_id <> NEW.correlation_id
      OR NEW.retry_of IS NOT NULL AND OLD.retry_of IS DISTINCT FROM NEW.retry_of
      OR NEW.group_id IS NOT NULL AND OLD.group_id IS DISTINCT FROM NEW.group_id) THEN
    RAISE EXCEPTION 'a finished job cannot be changed; only a failed one can be reset to pending'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER jobs_stay_as_they_ended ON jobs;
CREATE TRIGGER jobs_stay_as_they_ended BEFORE UPDATE OF worker_id, started_at, completed_at, error_message, retry_count,
    attempt_no, max_attempts, priority, dead_lettered_at, source, source_ref, correlation_id, retry_of, created_by, dedupe_key,
    requested_by, timeout_seconds, group_id ON jobs FOR EACH ROW
  WHEN (OLD.status <> 'pending' AND OLD.status <> 'processing') EXECUTE FUNCTION gribmill_keep_end();

-- What follows from a change: counts, dependents to settle, events.
CREATE FUNCTION gribmill_follow_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  completed_by_queue boolean := NEW.status = 'completed' AND OLD.status = 'processing'
    AND OLD.lease_expires_at IS NOT NULL AND NEW.lease_expires_at IS NULL AND NEW.worker_id IS NULL;
BEGIN
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
  RETURN NULL;
END $$;
DROP TRIGGER jobs_count_upd ON jobs;
DROP TRIGGER jobs_parent_ended ON jobs;
DROP TRIGGER jobs_publish_failure ON jobs;
DROP FUNCTION gribmill_note_ended();
DROP FUNCTION gribmill_publish_failure();
-- All but a claim and a completion by the queue of a job of `global`.
CREATE TRIGGER jobs_changed AFTER UPDATE OF status, type, tenant_id ON jobs FOR EACH ROW
  WHEN (NOT (OLD.tenant_id = 'global' AND NEW.tenant_id = 'global'
    AND (OLD.status = 'pending' AND NEW.status = 'processing'
      OR OLD.status = 'processing' AND NEW.status = 'completed' AND OLD.lease_expires_at IS NOT NULL
        AND NEW.lease_expires_at IS NULL AND NEW.worker_id IS NULL)))
  EXECUTE FUNCTION gribmill_follow_change();

-- Arguments are checked when they are written, and not with every change of the job.
CREATE OR REPLACE FUNCTION gribmill_place_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last bigint;
BEGIN
  NEW.args := coalesce(NEW.args::json, '{}')::text;
  IF NEW.position = 0 AND NEW.status = 'pending' THEN
    SELECT max(position) INTO last FROM jobs WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority;
    IF last > 0 THEN
      NEW.position := last + 100;
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION gribmill_check_args() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.args := NEW.args::json::text;
  RETURN NEW;
END $$;
CREATE TRIGGER jobs_args_checked BEFORE UPDATE OF args ON jobs FOR EACH ROW EXECUTE FUNCTION gribmill_check_args();
ALTER TABLE jobs DROP CONSTRAINT jobs_args_check;
