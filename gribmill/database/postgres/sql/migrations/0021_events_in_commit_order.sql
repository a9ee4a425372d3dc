-- The transaction that published an event. Ids are given out before the commit, so that an event with a lower id can
-- appear after one with a higher id. Readers that go on from an event follow the order of (xid, id), and see an event
-- when no older transaction is running any more: then nothing can appear before it.
ALTER TABLE events ADD COLUMN xid xid8 NOT NULL DEFAULT '0';
ALTER TABLE events ALTER COLUMN xid SET DEFAULT pg_current_xact_id();
CREATE INDEX events_in_commit_order ON events (xid, id);

-- Lists a job that has ended if others wait on it. Its look is newer than that of the statement which calls it, and so
-- includes dependents that were added while that one waited for the row.
CREATE FUNCTION gribmill_note_parent(job bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ended_parents (job_id) SELECT job WHERE EXISTS (SELECT 1 FROM job_dependencies WHERE parent_id = job)
  ON CONFLICT DO NOTHING;
END $$;
