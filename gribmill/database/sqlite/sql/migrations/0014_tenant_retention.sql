-- How much a tenant keeps of the regions that are cut for it alone. NULL: as much as [chain] and [retention] keep.
ALTER TABLE tenants ADD COLUMN keep_days REAL CHECK (keep_days > 0);
ALTER TABLE tenants ADD COLUMN keep_runs INTEGER CHECK (keep_runs > 0);
ALTER TABLE tenants ADD COLUMN keep_bytes INTEGER CHECK (keep_bytes > 0);
