-- The chain of a finished job, once it is known, and the place of an attempt's log are written once.
CREATE OR REPLACE FUNCTION gribmill_keep_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status = NEW.status
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

CREATE FUNCTION gribmill_keep_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'log_path' - 'ready_at' IS DISTINCT FROM to_jsonb(OLD) - 'log_path' - 'ready_at'
    OR OLD.log_path IS NOT NULL AND NEW.log_path IS DISTINCT FROM OLD.log_path THEN
    RAISE EXCEPTION 'an attempt that has ended cannot be changed' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER job_attempts_stay_ended ON job_attempts;
CREATE TRIGGER job_attempts_stay_ended BEFORE UPDATE ON job_attempts FOR EACH ROW
  WHEN (OLD.status <> 'running') EXECUTE FUNCTION gribmill_keep_attempt();

-- Replacing the function in 0040 took this away.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION gribmill_change_manually() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
END $$;
