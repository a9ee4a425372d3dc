-- Pauses that hosts ask for are kept even when no other mirror is left; an outage is reported once, when it begins.
ALTER TABLE mirrors ADD COLUMN asked_until TEXT;  -- NULL: the host did not ask for a pause
CREATE TABLE outages (
  family TEXT PRIMARY KEY,                  -- of models: no mirror of it answers
  began_at TEXT NOT NULL
) WITHOUT ROWID;
