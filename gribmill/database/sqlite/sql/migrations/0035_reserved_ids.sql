-- AUTOINCREMENT writes the last id with every job: a page of three. The queue gives its jobs the next id itself, and the
-- stored one stays ahead of it. Ids are not used again: this row remembers the newest job when it is deleted.
CREATE TABLE newest_deleted_job (one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL);
INSERT INTO newest_deleted_job SELECT 1, seq FROM sqlite_sequence WHERE name = 'jobs';
CREATE TRIGGER jobs_newest_deleted BEFORE DELETE ON jobs WHEN NOT EXISTS (SELECT 1 FROM jobs WHERE id > OLD.id) BEGIN
  INSERT INTO newest_deleted_job VALUES (1, OLD.id) ON CONFLICT (one) DO UPDATE SET id = max(id, excluded.id);
END;
