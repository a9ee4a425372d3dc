-- Not ready if the role bypasses row-level security, as a superuser or a member of the owner's role does.
SELECT EXISTS (
  SELECT 1 FROM pg_roles r JOIN pg_class jobs ON jobs.oid = to_regclass('jobs')
  WHERE r.rolname = 'gribmill_tenant' AND NOT r.rolsuper AND NOT r.rolbypassrls
    AND NOT pg_has_role(r.oid, jobs.relowner, 'USAGE')
    AND pg_has_role(r.oid, CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)
    AND has_schema_privilege(r.oid, jobs.relnamespace, 'USAGE')
    AND NOT EXISTS (SELECT 1 FROM pg_policy p JOIN pg_class t ON t.oid = p.polrelid
      WHERE p.polname = 'of_tenant' AND t.relnamespace = jobs.relnamespace
        AND NOT has_table_privilege(r.oid, t.oid, 'SELECT'))
    AND NOT EXISTS (SELECT 1 FROM
-- include tenant_role/parts/writes
      WHERE NOT has_table_privilege(r.oid, to_regclass(w.relation), w.privilege))
) AS ready,
-- With a single tenant there is nothing to separate.
(SELECT count(*) > 1 FROM tenants) AS wanted
