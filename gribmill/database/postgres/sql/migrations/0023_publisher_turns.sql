-- Up to when the turns of a publisher's host are given out, where its rate limit holds for all of gribmill's hosts
-- together. One row for each publisher with a limit.
CREATE TABLE publisher_turns (
  host text PRIMARY KEY,
  next_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);
ALTER TABLE publisher_turns ENABLE ROW LEVEL SECURITY;
