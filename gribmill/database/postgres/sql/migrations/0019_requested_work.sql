-- Shared work belongs to `global`, but a tenant may have asked for it: it takes that tenant's turns and counts against its
-- limits. `claimant` is whose turn a job takes.
ALTER TABLE jobs ADD COLUMN requested_by text COLLATE "C",     -- a tenant; NULL: nobody but the job's own
  ADD COLUMN claimant text COLLATE "C" GENERATED ALWAYS AS (coalesce(requested_by, tenant_id)) STORED;

DROP INDEX jobs_ready;
DROP INDEX jobs_ready_in_turn;
DROP INDEX jobs_ready_of;
CREATE INDEX jobs_ready ON jobs (type, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant = 'global';
CREATE INDEX jobs_ready_in_turn ON jobs (type, priority DESC, claimant, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global';
CREATE INDEX jobs_ready_of ON jobs (claimant, type, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND claimant <> 'global';
-- For the limits of tenants.
CREATE INDEX jobs_requested ON jobs (requested_by, id) WHERE requested_by IS NOT NULL;
CREATE INDEX jobs_requested_pending ON jobs (requested_by) WHERE status = 'pending' AND requested_by IS NOT NULL;
