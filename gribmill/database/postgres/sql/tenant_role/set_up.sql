-- Does what the connecting user is allowed to; `is_ready` reports whether that was enough.
DO $$
DECLARE
  home text;
  protected text;
  allowed record;
BEGIN
  IF current_setting('transaction_read_only')::bool THEN
    RETURN;
  END IF;
  IF to_regrole('gribmill_tenant') IS NULL THEN
    BEGIN
      CREATE ROLE gribmill_tenant NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;  -- roles belong to the whole server, and another database has just created this one
    END;
  END IF;
  IF NOT pg_has_role('gribmill_tenant',
      CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
    GRANT gribmill_tenant TO CURRENT_USER;
  END IF;
  SELECT relnamespace::regnamespace::text INTO home FROM pg_class WHERE oid = 'jobs'::regclass;
  EXECUTE 'GRANT USAGE ON SCHEMA ' || home || ' TO gribmill_tenant';
  FOR protected IN SELECT p.polrelid::regclass::text FROM pg_policy p JOIN pg_class t ON t.oid = p.polrelid
    WHERE p.polname = 'of_tenant' AND t.relnamespace = home::regnamespace LOOP
    EXECUTE 'GRANT SELECT ON ' || protected || ' TO gribmill_tenant';
  END LOOP;
  FOR allowed IN SELECT * FROM
-- include tenant_role/parts/writes
  LOOP
    EXECUTE format('GRANT %s ON %s TO gribmill_tenant', allowed.privilege, allowed.relation::regclass);
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  NULL;
END $$
