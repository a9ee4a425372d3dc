-- A request for one tenant reads as the role gribmill_tenant (see `tenant_role`), which is granted every table with a
-- policy `of_tenant`. These are the ones it also needs; definitions are shared by all tenants.
CREATE POLICY of_tenant ON job_definitions FOR SELECT USING (true);
CREATE POLICY of_tenant ON job_dependencies
  USING (EXISTS (SELECT 1 FROM jobs j WHERE j.id = job_dependencies.job_id));
CREATE POLICY of_tenant ON trigger_firings
  USING (EXISTS (SELECT 1 FROM job_triggers t WHERE t.id = trigger_firings.trigger_id));
ALTER TABLE job_definitions ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_dependencies ENABLE ROW LEVEL SECURITY;
ALTER TABLE trigger_firings ENABLE ROW LEVEL SECURITY;
-- Shared work belongs to `global`, and counts in the group of the tenant that asked for it.
CREATE POLICY of_requester ON jobs FOR SELECT USING (requested_by = gribmill_tenant());

-- The transaction of the newest event up to this one, whichever tenant it belongs to: the order of events is one for
-- all, and readers go on from any id.
CREATE FUNCTION gribmill_event_xid(bigint) RETURNS xid8 LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT
  AS $$ SELECT coalesce((SELECT xid FROM events WHERE id <= $1 ORDER BY id DESC LIMIT 1), '0') $$;
