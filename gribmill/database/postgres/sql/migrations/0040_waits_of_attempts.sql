-- When an attempt could have started, written when its job goes back into the queue. For the last attempt of a job it is
-- `ready_at` of the job, which from now on is about the next attempt.
ALTER TABLE job_attempts ADD COLUMN ready_at timestamptz(3);

CREATE OR REPLACE FUNCTION gribmill_change_manually() RETURNS trigger LANGUAGE plpgsql AS $$
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
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION gribmill_publish_meters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF gribmill_wanted('attempt.metered') THEN
    INSERT INTO events (name, tenant_id, job_id, created_at, payload)
      SELECT 'attempt.metered', j.tenant_id, j.id, coalesce(n.finished_at, gribmill_now()),
        json_build_object('job_id', j.id, 'type', j.type, 'tenant_id', j.tenant_id, 'attempt_no', n.attempt_no,
        'status', n.status, 'exit_code', n.exit_code, 'worker_id', n.worker_id,
        'wait_seconds', round(greatest(0,
          extract(epoch FROM n.started_at - coalesce(n.ready_at, j.ready_at, j.created_at))), 3),
        'run_seconds', round(greatest(0, extract(epoch FROM n.finished_at - n.started_at)), 3),
        'bytes', coalesce(n.downloaded_bytes + n.written_bytes, n.downloaded_bytes, n.written_bytes),
        'downloaded_bytes', n.downloaded_bytes, 'written_bytes', n.written_bytes)::text
      FROM after_update n JOIN before_update o USING (job_id, attempt_no) JOIN jobs j ON j.id = n.job_id
      WHERE o.status = 'running' AND n.status <> 'running';
  END IF;
  RETURN NULL;
END $$;
