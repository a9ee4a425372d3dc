-- Downloads wait for the tiles of hours that are here: how much these need is asked before every download.
CREATE INDEX hours_waiting ON hours (bytes) WHERE state = 'ingested';
