-- A job of a type with `retry_as = new_job` that a manual statement ends as failed is due a retry: the mark stays until the
-- retry has been made, so that a crash in between loses nothing.
ALTER TABLE ended_parents ADD COLUMN retry_due INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER jobs_parent_ended;
-- A failure stops a group with on_failure = 'stop'. It is settled like the end of a parent.
CREATE TRIGGER jobs_parent_ended INSTEAD OF INSERT ON job_changes
  WHEN NEW.new_status NOT IN ('pending','processing') BEGIN
  INSERT OR IGNORE INTO ended_parents (job_id, retry_due) SELECT id, retry_due FROM (
    SELECT id, group_id, status, NEW.old_status = 'processing' AND (NEW.new_lease IS NOT NULL OR NEW.old_lease IS NULL)
      AND status = 'failed' AND dead_lettered_at IS NULL AND cancel_requested_at IS NULL
      AND retry_count + 1 < max_attempts
      AND EXISTS (SELECT 1 FROM job_definitions WHERE key = type AND retry_as = 'new_job') AS retry_due
    FROM jobs WHERE id = NEW.job_id) j
  WHERE retry_due OR EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = NEW.job_id)
    OR status = 'failed' AND EXISTS (SELECT 1 FROM job_groups g WHERE g.id = j.group_id AND g.on_failure = 'stop');
END;
