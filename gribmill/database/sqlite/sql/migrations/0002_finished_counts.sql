-- What waits and runs is counted from its own small indexes; only what has ended, which is most, needs counters.
-- Enqueueing and claiming then touch no counter.
DROP TRIGGER jobs_count_ins;
DROP TRIGGER jobs_count_del;
DROP TRIGGER jobs_count_upd;
DELETE FROM job_counts WHERE status IN ('pending','processing');
CREATE TRIGGER jobs_count_ins AFTER INSERT ON jobs WHEN NEW.status NOT IN ('pending','processing') BEGIN
  INSERT INTO job_counts VALUES (NEW.type, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_del AFTER DELETE ON jobs WHEN OLD.status NOT IN ('pending','processing') BEGIN
  UPDATE job_counts SET n = n - 1 WHERE type = OLD.type AND status = OLD.status;
END;
CREATE TRIGGER jobs_count_upd AFTER UPDATE OF status, type ON jobs
  WHEN OLD.status <> NEW.status AND 'processing' <> NEW.status OR OLD.type <> NEW.type BEGIN
  UPDATE job_counts SET n = n - 1 WHERE type = OLD.type AND status = OLD.status;
  INSERT INTO job_counts SELECT NEW.type, NEW.status, 1 WHERE NEW.status NOT IN ('pending','processing')
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
