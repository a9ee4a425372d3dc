-- PostgreSQL reads conditions of triggers from their text in every statement (see 0026), so these must be short. A claim
-- of a job of `global`, and a completion that ends its lease, count a step. Any other change of a job, also by an older
-- worker, counts none, and is what these triggers look at.
ALTER TABLE jobs ADD COLUMN steps integer NOT NULL DEFAULT 0;
DROP TRIGGER jobs_changed_manually ON jobs;
CREATE TRIGGER jobs_changed_manually BEFORE UPDATE OF status, type, tenant_id ON jobs FOR EACH ROW
  WHEN (OLD.steps = NEW.steps) EXECUTE FUNCTION gribmill_change_manually();

CREATE OR REPLACE FUNCTION gribmill_keep_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status NOT IN ('pending','processing') AND OLD.status = NEW.status
    AND ((OLD.worker_id, OLD.started_at, OLD.completed_at, OLD.error_message, OLD.retry_count, OLD.attempt_no,
        OLD.max_attempts, OLD.priority, OLD.dead_lettered_at, OLD.source, OLD.source_ref,
        OLD.created_by, OLD.dedupe_key, OLD.requested_by, OLD.timeout_seconds)
      IS DISTINCT FROM (NEW.worker_id, NEW.started_at, NEW.completed_at, NEW.error_message, NEW.retry_count, NEW.attempt_no,
        NEW.max_attempts, NEW.priority, NEW.dead_lettered_at, NEW.source, NEW.source_ref,
        NEW.created_by, NEW.dedupe_key, NEW.requested_by, NEW.timeout_seconds)
      OR OLD.correlation_id IS NOT NULL AND OLD.correlation_id IS DISTINCT FROM NEW.correlation_id
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
  WHEN (OLD.steps = NEW.steps) EXECUTE FUNCTION gribmill_keep_end();

-- A statement also initializes every part of its plan (see 0034). What only few turns do is in functions.

-- Lists those of these jobs that have dependents and were completed by this transaction: a late report about a job that
-- had completed before must not release its dependents a second time. Its look is newer than that of the statement that
-- calls it.
CREATE FUNCTION gribmill_note_ended(ended bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ended_parents (job_id)
  SELECT DISTINCT p.id FROM job_dependencies d JOIN jobs p ON p.id = d.parent_id
  WHERE d.parent_id = ANY (ended) AND p.status = 'completed' AND p.xmin = pg_current_xact_id()::xid
  ON CONFLICT DO NOTHING;
  RETURN FOUND;
END $$;

-- Locks the types with a limit; returns those that another claim holds, one per line.
CREATE FUNCTION gribmill_lock_limits(kinds text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN coalesce((
    SELECT string_agg(d.key, E'\n') FROM job_definitions d
    WHERE d.key = ANY (kinds)
      AND (d.max_running IS NOT NULL AND NOT pg_try_advisory_xact_lock(7218, hashtext(d.key))
        OR d.resources <> '[]' AND EXISTS (
          SELECT 1 FROM json_array_elements_text(d.resources::json) tag
          WHERE NOT pg_try_advisory_xact_lock(7219, hashtext(tag))))), '');
END $$;

-- The same for checks and generated columns: one long value is read faster than eight short ones, and which trigger made a
-- job is worked out when its source is written, not with every change. The rows that are there satisfy the same check.
ALTER TABLE job_attempts DROP CONSTRAINT job_attempts_status_check;
ALTER TABLE job_attempts ADD CONSTRAINT job_attempts_status_check
  CHECK (status = ANY ('{running,succeeded,failed,timeout,cancelled,lost,snoozed,skipped}'::text[])) NOT VALID;

CREATE FUNCTION gribmill_trigger_of(source text, source_ref text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN source IN ('schedule','event')
    THEN substring(source_ref from '^trigger ([1-9][0-9]{0,17}): ')::bigint END
$$;
ALTER TABLE jobs ALTER COLUMN trigger_id DROP EXPRESSION;
CREATE OR REPLACE FUNCTION gribmill_place_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last bigint;
BEGIN
  NEW.args := coalesce(NEW.args::json, '{}')::text;
  IF NEW.status NOT IN ('pending','processing','completed','failed','cancelled') THEN
    RAISE EXCEPTION 'jobs have no status %', NEW.status USING ERRCODE = 'check_violation';
  ELSIF NEW.source NOT IN ('manual','event','schedule','system') THEN
    RAISE EXCEPTION 'jobs have no source %', NEW.source USING ERRCODE = 'check_violation';
  END IF;
  NEW.trigger_id := gribmill_trigger_of(NEW.source, NEW.source_ref);
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
-- Replacing the function would take this away (see 0044).
ALTER FUNCTION gribmill_place_job() SET enable_seqscan = off;

CREATE OR REPLACE FUNCTION gribmill_check_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.source NOT IN ('manual','event','schedule','system') THEN
    RAISE EXCEPTION 'jobs have no source %', NEW.source USING ERRCODE = 'check_violation';
  END IF;
  NEW.trigger_id := gribmill_trigger_of(NEW.source, NEW.source_ref);
  RETURN NEW;
END $$;
DROP TRIGGER jobs_source_checked ON jobs;
CREATE TRIGGER jobs_source_checked BEFORE UPDATE OF source, source_ref, trigger_id ON jobs FOR EACH ROW
  EXECUTE FUNCTION gribmill_check_source();

CREATE OR REPLACE FUNCTION gribmill_publish_recovery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status = 'lost' AND OLD.status = 'running' THEN
    INSERT INTO events (name, tenant_id, job_id, created_at, payload)
      SELECT 'job.recovered', tenant_id, id, coalesce(NEW.finished_at, gribmill_now()),
        json_build_object('job_id', id, 'type', type, 'attempt_no', NEW.attempt_no, 'worker_id', NEW.worker_id,
        'status', status, 'error', left(NEW.error_text, 2000))::text
      FROM jobs WHERE id = NEW.job_id;
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER attempts_publish_recovery ON job_attempts;
CREATE TRIGGER attempts_publish_recovery AFTER UPDATE OF status ON job_attempts FOR EACH ROW
  WHEN (NEW.status <> 'succeeded') EXECUTE FUNCTION gribmill_publish_recovery();
