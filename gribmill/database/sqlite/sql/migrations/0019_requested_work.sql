-- Shared work belongs to `global`, but a tenant may have asked for it: it takes that tenant's turns and counts against its
-- limits. `claimant` is whose turn a job takes.
ALTER TABLE jobs ADD COLUMN requested_by TEXT;      -- a tenant; NULL: nobody but the job's own
ALTER TABLE jobs ADD COLUMN claimant TEXT GENERATED ALWAYS AS (coalesce(requested_by, tenant_id)) VIRTUAL;

DROP INDEX jobs_ready;
DROP INDEX jobs_ready_of;
CREATE INDEX jobs_ready ON jobs (type, claimant <> 'global', priority DESC, nullif(claimant, 'global'), position,
    created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0;
CREATE INDEX jobs_ready_of ON jobs (claimant, type, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global';
-- For the limits of tenants, and for counts.
CREATE INDEX jobs_requested ON jobs (requested_by, id) WHERE requested_by IS NOT NULL;
CREATE INDEX jobs_requested_pending ON jobs (requested_by, type, next_run_at, deps_left, tenant_id)
  WHERE status = 'pending' AND requested_by IS NOT NULL;
