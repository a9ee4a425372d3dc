-- What has ended keeps how and when it ended, and where it came from. Pruning may still clear the ids of other rows,
-- and a job gets the id of its chain when it is followed by others.
CREATE TRIGGER jobs_stay_as_they_ended BEFORE UPDATE OF worker_id, started_at, completed_at, error_message, retry_count,
    attempt_no, max_attempts, priority, dead_lettered_at, source, source_ref, correlation_id, retry_of, created_by, dedupe_key,
    requested_by, timeout_seconds, group_id ON jobs FOR EACH ROW
  WHEN (OLD.status NOT IN ('pending','processing') AND OLD.status = NEW.status
    AND ((OLD.worker_id, OLD.started_at, OLD.completed_at, OLD.error_message, OLD.retry_count, OLD.attempt_no,
        OLD.max_attempts, OLD.priority, OLD.dead_lettered_at, OLD.source, OLD.source_ref,
        OLD.created_by, OLD.dedupe_key, OLD.requested_by, OLD.timeout_seconds)
      IS DISTINCT FROM (NEW.worker_id, NEW.started_at, NEW.completed_at, NEW.error_message, NEW.retry_count, NEW.attempt_no,
        NEW.max_attempts, NEW.priority, NEW.dead_lettered_at, NEW.source, NEW.source_ref,
        NEW.created_by, NEW.dedupe_key, NEW.requested_by, NEW.timeout_seconds)
      OR OLD.correlation_id <> NEW.correlation_id
      OR NEW.retry_of IS NOT NULL AND OLD.retry_of IS DISTINCT FROM NEW.retry_of
      OR NEW.group_id IS NOT NULL AND OLD.group_id IS DISTINCT FROM NEW.group_id))
  EXECUTE FUNCTION gribmill_refuse('a finished job cannot be changed; only a failed one can be reset to pending');
