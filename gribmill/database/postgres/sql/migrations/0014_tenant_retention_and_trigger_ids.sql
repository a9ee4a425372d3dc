-- How much a tenant keeps of the regions that are cut for it alone. NULL: as much as [chain] and [retention] keep.
ALTER TABLE tenants ADD COLUMN keep_days double precision CHECK (keep_days > 0);
ALTER TABLE tenants ADD COLUMN keep_runs bigint CHECK (keep_runs > 0);
ALTER TABLE tenants ADD COLUMN keep_bytes bigint CHECK (keep_bytes > 0);

-- The trigger that made a job, from `trigger 7: 2026-11-18T06:00:00.000Z`.
ALTER TABLE jobs ADD COLUMN trigger_id bigint GENERATED ALWAYS AS (
  CASE WHEN source IN ('schedule','event')
    THEN substring(source_ref from '^trigger ([1-9][0-9]{0,17}): ')::bigint END) STORED;
