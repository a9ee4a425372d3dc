-- How much a tenant keeps of the regions that are cut for it alone. NULL: as much as [chain] and [retention] keep.
ALTER TABLE tenants ADD COLUMN keep_days REAL CHECK (keep_days > 0);
ALTER TABLE tenants ADD COLUMN keep_runs INTEGER CHECK (keep_runs > 0);
ALTER TABLE tenants ADD COLUMN keep_bytes INTEGER CHECK (keep_bytes > 0);

-- The trigger that made a job, from `trigger 7: 2026-11-18T06:00:00.000Z`.
ALTER TABLE jobs ADD COLUMN trigger_id INTEGER GENERATED ALWAYS AS (
  CASE WHEN source IN ('schedule','event') AND source_ref GLOB 'trigger [1-9]*: *'
    THEN CAST(substr(source_ref, 9, instr(source_ref, ':') - 9) AS INTEGER) END) VIRTUAL;
