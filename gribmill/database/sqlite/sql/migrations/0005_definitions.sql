-- Operators tune the types of the code, and make types of their own that run a command. The effective values stay in
-- the columns that were there before; `declared` is the code's part and `overrides` the operator's.
ALTER TABLE job_definitions ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE job_definitions ADD COLUMN retry_as TEXT NOT NULL DEFAULT 'same_row' CHECK (retry_as IN ('same_row','new_job'));
ALTER TABLE job_definitions ADD COLUMN resources TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(resources)); -- tags
ALTER TABLE job_definitions ADD COLUMN declared TEXT NOT NULL DEFAULT '{}';
ALTER TABLE job_definitions ADD COLUMN overrides TEXT NOT NULL DEFAULT '{}';
ALTER TABLE job_definitions ADD COLUMN command TEXT;                            -- NULL: a type of the code
ALTER TABLE job_definitions ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

-- What a definition was after each change, who made it and when.
CREATE TABLE definition_versions (
  key TEXT NOT NULL, version INTEGER NOT NULL, changed_at TEXT NOT NULL, changed_by TEXT, change TEXT NOT NULL,
  definition TEXT NOT NULL, PRIMARY KEY (key, version)
) WITHOUT ROWID;

-- How many batches that need a resource run at once. Written from the settings when a queue is opened.
CREATE TABLE resource_limits (tag TEXT PRIMARY KEY, most INTEGER NOT NULL) WITHOUT ROWID;
