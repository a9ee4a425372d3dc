-- Regions that were asked for are not asked for again, nor are files that cannot be downloaded.
ALTER TABLE hours ADD COLUMN asked TEXT;      -- JSON list: regions asked for, those beyond the file's grids too
ALTER TABLE hours ADD COLUMN failed_at TEXT;  -- when its download failed for good; NULL: it did not
ALTER TABLE hours ADD COLUMN error TEXT;
