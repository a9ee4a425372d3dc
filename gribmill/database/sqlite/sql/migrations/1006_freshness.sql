-- How up to date each region of each followed model was at the last look: changes are reported once, also over restarts.
CREATE TABLE freshness (
  model_id TEXT NOT NULL,
  region TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('ok','late','stale')),
  cause TEXT,                               -- NULL: it is ok
  since TEXT NOT NULL,                      -- when the state began
  stale_at TEXT,                            -- when it became stale; NULL: it has not been since it was last ok
  PRIMARY KEY (model_id, region)
) WITHOUT ROWID;
