-- A job of a type with `retry_as = new_job` that a manual statement ends as failed is due a retry: the mark stays until the
-- retry has been made, so that a crash in between loses nothing.
ALTER TABLE ended_parents ADD COLUMN retry_due integer NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION gribmill_end_manually() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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
  RETURN NEW;
END $$;
