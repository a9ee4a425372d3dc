-- The chain of a finished job, once it is known, and the place of an attempt's log are written once.
DROP TRIGGER jobs_stay_as_they_came;
CREATE TRIGGER jobs_stay_as_they_came AFTER UPDATE OF priority, source, source_ref, correlation_id, retry_of,
    created_by, dedupe_key, requested_by, timeout_seconds, group_id ON jobs
  WHEN OLD.status = NEW.status AND OLD.status <> 'pending' AND OLD.status <> 'processing'
    AND (OLD.priority <> NEW.priority OR OLD.source <> NEW.source
      OR OLD.source_ref IS NOT NEW.source_ref OR OLD.correlation_id IS NOT NULL AND OLD.correlation_id IS NOT NEW.correlation_id
      OR OLD.created_by IS NOT NEW.created_by OR OLD.dedupe_key IS NOT NEW.dedupe_key
      OR OLD.requested_by IS NOT NEW.requested_by OR OLD.timeout_seconds IS NOT NEW.timeout_seconds
      OR NEW.retry_of IS NOT NULL AND OLD.retry_of IS NOT NEW.retry_of
      OR NEW.group_id IS NOT NULL AND OLD.group_id IS NOT NEW.group_id) BEGIN
  SELECT RAISE(ABORT, 'a finished job cannot be changed; only a failed one can be reset to pending');
END;
CREATE TRIGGER job_attempts_keep_log BEFORE UPDATE OF log_path ON job_attempts
  WHEN OLD.log_path IS NOT NULL AND OLD.log_path IS NOT NEW.log_path BEGIN
  SELECT RAISE(ABORT, 'the log_path of an attempt cannot be changed');
END;
