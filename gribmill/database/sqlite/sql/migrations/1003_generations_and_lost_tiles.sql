-- Contents of an hour are numbered, so that an older file never replaces a newer one. Tiles that are lost are marked.
ALTER TABLE hours ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;  -- grows with each download that brings other content
ALTER TABLE tiles ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;  -- that of the messages it was cut from
ALTER TABLE tiles ADD COLUMN variables TEXT;                         -- JSON list; NULL: built before they were recorded
ALTER TABLE tiles ADD COLUMN lost_at TEXT;                           -- when its file was found missing or damaged
CREATE INDEX tiles_lost ON tiles (model_id, run_id) WHERE lost_at IS NOT NULL;
