-- What an attempt received from the network and wrote, as its handler reports it. NULL: not reported.
ALTER TABLE job_attempts ADD COLUMN downloaded_bytes INTEGER;
ALTER TABLE job_attempts ADD COLUMN written_bytes INTEGER;

DROP TRIGGER job_attempts_changed;
CREATE TRIGGER job_attempts_changed
  AFTER UPDATE OF job_id, attempt_no, worker_id, pid, started_at, finished_at, status, exit_code, stdout_tail,
    stderr_tail, error_text, artifacts, downloaded_bytes, written_bytes ON job_attempts
  WHEN OLD.status <> 'running' OR NEW.status = 'lost'
    OR NEW.status <> 'running' AND EXISTS (SELECT 1 FROM meters) BEGIN
  INSERT INTO attempt_changes VALUES (NEW.job_id, NEW.attempt_no, OLD.status, NEW.status);
END;

DROP TRIGGER attempts_publish_meter;
CREATE TRIGGER attempts_publish_meter INSTEAD OF INSERT ON attempt_changes
  WHEN NEW.old_status = 'running' AND EXISTS (SELECT 1 FROM meters) BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'attempt.metered', j.tenant_id, j.id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', a.finished_at), strftime('%Y-%m-%d %H:%M:%f','now')),
      json_object('job_id', j.id, 'type', j.type, 'tenant_id', j.tenant_id,
      'attempt_no', a.attempt_no, 'status', a.status, 'exit_code', a.exit_code, 'worker_id', a.worker_id,
      'wait_seconds', round(max(0, julianday(a.started_at) - julianday(coalesce(j.ready_at, j.created_at))) * 86400, 3),
      'run_seconds', round(max(0, julianday(a.finished_at) - julianday(a.started_at)) * 86400, 3),
      'bytes', coalesce(a.downloaded_bytes + a.written_bytes, a.downloaded_bytes, a.written_bytes),
      'downloaded_bytes', a.downloaded_bytes, 'written_bytes', a.written_bytes)
    FROM job_attempts a JOIN jobs j ON j.id = a.job_id
    WHERE a.job_id = NEW.job_id AND a.attempt_no = NEW.attempt_no;
END;
