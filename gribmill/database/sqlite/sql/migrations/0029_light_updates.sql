-- Every update of a job loads the columns that its triggers look at, and all of them if one is beyond the 32nd. So what an
-- attempt changes is guarded apart from what no attempt changes, some of which is beyond.
DROP TRIGGER jobs_stay_as_they_ended;
CREATE TRIGGER jobs_stay_as_they_ended AFTER UPDATE OF worker_id, started_at, completed_at, error_message, retry_count,
    max_attempts, attempt_no, dead_lettered_at ON jobs
  WHEN OLD.status = NEW.status AND OLD.status <> 'pending' AND OLD.status <> 'processing'
    AND (OLD.worker_id IS NOT NEW.worker_id OR OLD.started_at IS NOT NEW.started_at
      OR OLD.completed_at IS NOT NEW.completed_at OR OLD.error_message IS NOT NEW.error_message
      OR OLD.retry_count <> NEW.retry_count OR OLD.max_attempts <> NEW.max_attempts OR OLD.attempt_no <> NEW.attempt_no
      OR OLD.dead_lettered_at IS NOT NEW.dead_lettered_at) BEGIN
  SELECT RAISE(ABORT, 'a finished job cannot be changed; only a failed one can be reset to pending');
END;
CREATE TRIGGER jobs_stay_as_they_came AFTER UPDATE OF priority, source, source_ref, correlation_id, retry_of,
    created_by, dedupe_key, requested_by, timeout_seconds, group_id ON jobs
  WHEN OLD.status = NEW.status AND OLD.status <> 'pending' AND OLD.status <> 'processing'
    AND (OLD.priority <> NEW.priority OR OLD.source <> NEW.source
      OR OLD.source_ref IS NOT NEW.source_ref OR OLD.correlation_id <> NEW.correlation_id
      OR OLD.created_by IS NOT NEW.created_by OR OLD.dedupe_key IS NOT NEW.dedupe_key
      OR OLD.requested_by IS NOT NEW.requested_by OR OLD.timeout_seconds IS NOT NEW.timeout_seconds
      OR NEW.retry_of IS NOT NULL AND OLD.retry_of IS NOT NEW.retry_of
      OR NEW.group_id IS NOT NULL AND OLD.group_id IS NOT NEW.group_id) BEGIN
  SELECT RAISE(ABORT, 'a finished job cannot be changed; only a failed one can be reset to pending');
END;
