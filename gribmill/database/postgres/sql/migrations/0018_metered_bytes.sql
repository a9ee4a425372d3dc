-- What an attempt received from the network and wrote, as its handler reports it. NULL: not reported.
ALTER TABLE job_attempts ADD COLUMN downloaded_bytes bigint;
ALTER TABLE job_attempts ADD COLUMN written_bytes bigint;

DROP TRIGGER job_attempts_stay_ended ON job_attempts;
CREATE TRIGGER job_attempts_stay_ended BEFORE UPDATE OF job_id, attempt_no, worker_id, pid, started_at, finished_at,
    status, exit_code, stdout_tail, stderr_tail, error_text, artifacts, downloaded_bytes, written_bytes
  ON job_attempts FOR EACH ROW
  WHEN (OLD.status <> 'running')
  EXECUTE FUNCTION gribmill_refuse('an attempt that has ended cannot be changed');

CREATE OR REPLACE FUNCTION gribmill_publish_meters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF gribmill_wanted('attempt.metered') THEN
    INSERT INTO events (name, tenant_id, job_id, created_at, payload)
      SELECT 'attempt.metered', j.tenant_id, j.id, coalesce(n.finished_at, gribmill_now()),
        json_build_object('job_id', j.id, 'type', j.type, 'tenant_id', j.tenant_id, 'attempt_no', n.attempt_no,
        'status', n.status, 'exit_code', n.exit_code, 'worker_id', n.worker_id,
        'wait_seconds', round(greatest(0, extract(epoch FROM n.started_at - coalesce(j.ready_at, j.created_at))), 3),
        'run_seconds', round(greatest(0, extract(epoch FROM n.finished_at - n.started_at)), 3),
        'bytes', coalesce(n.downloaded_bytes + n.written_bytes, n.downloaded_bytes, n.written_bytes),
        'downloaded_bytes', n.downloaded_bytes, 'written_bytes', n.written_bytes)::text
      FROM after_update n JOIN before_update o USING (job_id, attempt_no) JOIN jobs j ON j.id = n.job_id
      WHERE o.status = 'running' AND n.status <> 'running';
  END IF;
  RETURN NULL;
END $$;
