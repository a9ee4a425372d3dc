-- When an attempt could have started, written when its job goes back into the queue. For the last attempt of a job it is
-- `ready_at` of the job, which from now on is about the next attempt.
ALTER TABLE job_attempts ADD COLUMN ready_at TEXT;

CREATE TRIGGER jobs_ready_manually INSTEAD OF INSERT ON job_changes WHEN NEW.new_status = 'pending' BEGIN
  UPDATE job_attempts SET ready_at = (SELECT coalesce(ready_at, created_at) FROM jobs WHERE id = NEW.job_id)
  WHERE job_id = NEW.job_id AND attempt_no = (SELECT attempt_no FROM jobs WHERE id = NEW.job_id);
  UPDATE jobs SET ready_at = strftime('%Y-%m-%d %H:%M:%f','now') WHERE id = NEW.job_id;
END;

DROP TRIGGER attempts_publish_meter;
CREATE TRIGGER attempts_publish_meter INSTEAD OF INSERT ON attempt_changes
  WHEN NEW.old_status = 'running' AND EXISTS (SELECT 1 FROM meters) BEGIN
  INSERT INTO events (name, tenant_id, job_id, created_at, payload)
    SELECT 'attempt.metered', j.tenant_id, j.id,
      coalesce(strftime('%Y-%m-%d %H:%M:%f', a.finished_at), strftime('%Y-%m-%d %H:%M:%f','now')),
      json_object('job_id', j.id, 'type', j.type, 'tenant_id', j.tenant_id,
      'attempt_no', a.attempt_no, 'status', a.status, 'exit_code', a.exit_code, 'worker_id', a.worker_id,
      'wait_seconds',
      round(max(0, julianday(a.started_at) - julianday(coalesce(a.ready_at, j.ready_at, j.created_at))) * 86400, 3),
      'run_seconds', round(max(0, julianday(a.finished_at) - julianday(a.started_at)) * 86400, 3),
      'bytes', coalesce(a.downloaded_bytes + a.written_bytes, a.downloaded_bytes, a.written_bytes),
      'downloaded_bytes', a.downloaded_bytes, 'written_bytes', a.written_bytes)
    FROM job_attempts a JOIN jobs j ON j.id = a.job_id
    WHERE a.job_id = NEW.job_id AND a.attempt_no = NEW.attempt_no;
END;
