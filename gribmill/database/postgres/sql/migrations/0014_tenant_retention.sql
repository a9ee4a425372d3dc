-- How much a tenant keeps of the regions that are cut for it alone. NULL: as much as [chain] and [retention] keep.
ALTER TABLE tenants ADD COLUMN keep_days double precision CHECK (keep_days > 0);
ALTER TABLE tenants ADD COLUMN keep_runs bigint CHECK (keep_runs > 0);
ALTER TABLE tenants ADD COLUMN keep_bytes bigint CHECK (keep_bytes > 0);
