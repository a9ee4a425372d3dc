-- A request for one tenant also writes as the role gribmill_tenant: the policies of its tables are checked for new and
-- changed rows too. Shared work belongs to `global`; it is requested by the tenant, and ends with the tenant's group.
CREATE POLICY for_requester ON jobs FOR INSERT WITH CHECK (tenant_id = 'global' AND requested_by = gribmill_tenant());
CREATE POLICY by_requester ON jobs FOR UPDATE USING (requested_by = gribmill_tenant());

-- While a job of a priority is parked behind the others, new jobs of that priority go behind it, whoever owns it.
CREATE FUNCTION gribmill_last_position(integer) RETURNS bigint LANGUAGE sql STABLE
  AS $$ SELECT max(position) FROM jobs WHERE status = 'pending' AND position <> 0 AND priority = $1 $$;
CREATE OR REPLACE FUNCTION gribmill_place_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE last bigint;
BEGIN
  NEW.args := coalesce(NEW.args::json, '{}')::text;
  IF NEW.position = 0 AND NEW.status = 'pending' THEN
    IF row_security_active('jobs') THEN
      last := gribmill_last_position(NEW.priority);
    ELSE
      SELECT max(position) INTO last FROM jobs WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority;
    END IF;
    IF last > 0 THEN
      NEW.position := last + 100;
    END IF;
  END IF;
  RETURN NEW;
END $$;

-- What follows from a tenant's change concerns rows that the tenant does not see: counts, events, dependents of others.
DO $$
DECLARE one text;
BEGIN
  FOREACH one IN ARRAY ARRAY['gribmill_follow_change()', 'gribmill_change_manually()', 'gribmill_count()',
    'gribmill_last_position(integer)'] LOOP
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', one, current_schema());
  END LOOP;
END $$;
