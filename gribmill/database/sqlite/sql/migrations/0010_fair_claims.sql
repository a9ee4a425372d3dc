-- Tenants take turns within a priority. The jobs of `global` are apart in the index of what is ready, so that a queue
-- with one tenant is claimed from as before; NULL stands for `global` because it takes no space.
DROP INDEX jobs_ready;
CREATE INDEX jobs_ready ON jobs (type, tenant_id <> 'global', priority DESC, nullif(tenant_id, 'global'), position,
    created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0;
-- The same by tenant, for when some of them have reached a limit. Of other tenants only: most queues have none.
CREATE INDEX jobs_ready_of ON jobs (tenant_id, type, priority DESC, position, created_at, id)
  WHERE status = 'pending' AND next_run_at IS NULL AND deps_left = 0 AND tenant_id <> 'global';

-- Whose turn it was last, by the types that a worker asked for.
CREATE TABLE tenant_turns (
  types TEXT NOT NULL, priority INTEGER NOT NULL, tenant_id TEXT NOT NULL, served_at TEXT NOT NULL,
  PRIMARY KEY (types, priority)
) WITHOUT ROWID;
CREATE INDEX tenants_disabled ON tenants (name) WHERE disabled_at IS NOT NULL;

-- Lists: everything of a tenant by age; and what of it has not completed, by status.
CREATE INDEX jobs_tenant ON jobs (tenant_id, id) WHERE tenant_id <> 'global';
CREATE INDEX jobs_tenant_status ON jobs (tenant_id, status, id) WHERE tenant_id <> 'global' AND status <> 'completed';
CREATE INDEX jobs_of_group ON jobs (group_key, id) WHERE group_key IS NOT NULL;

-- Counters by tenant. Those of `global` count what has ended; those of other tenants count every status, so that limits
-- are looked up.
DROP TRIGGER jobs_count_ins;
DROP TRIGGER jobs_count_del;
DROP TRIGGER jobs_count_upd;
DROP TABLE job_counts;
CREATE TABLE job_counts (
  tenant_id TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, type, status)
) WITHOUT ROWID;
INSERT INTO job_counts SELECT tenant_id, type, status, count(*) FROM jobs
  WHERE tenant_id <> 'global' OR status NOT IN ('pending','processing') GROUP BY 1, 2, 3;
CREATE TRIGGER jobs_count_ins AFTER INSERT ON jobs
  WHEN NEW.tenant_id <> 'global' OR NEW.status NOT IN ('pending','processing') BEGIN
  INSERT INTO job_counts VALUES (NEW.tenant_id, NEW.type, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_del AFTER DELETE ON jobs
  WHEN OLD.tenant_id <> 'global' OR OLD.status NOT IN ('pending','processing') BEGIN
  UPDATE job_counts SET n = n - 1 WHERE tenant_id = OLD.tenant_id AND type = OLD.type AND status = OLD.status;
END;
CREATE TRIGGER jobs_count_upd AFTER UPDATE OF status, type, tenant_id ON jobs
  WHEN OLD.status <> NEW.status AND ('processing' <> NEW.status OR NEW.tenant_id <> 'global') OR OLD.type <> NEW.type
    OR OLD.tenant_id <> NEW.tenant_id BEGIN
  UPDATE job_counts SET n = n - 1 WHERE tenant_id = OLD.tenant_id AND type = OLD.type AND status = OLD.status;
  INSERT INTO job_counts SELECT NEW.tenant_id, NEW.type, NEW.status, 1
    WHERE NEW.tenant_id <> 'global' OR NEW.status NOT IN ('pending','processing')
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
