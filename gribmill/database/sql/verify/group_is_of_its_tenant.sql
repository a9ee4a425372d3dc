-- Jobs that are shared by all tenants belong to `global`, also in the group of a tenant.
SELECT j.id AS job_id, 'it belongs to ' || j.tenant_id || ', its group to ' || g.tenant_id AS detail
FROM job_groups g JOIN jobs j ON j.group_id = g.id
WHERE j.group_id IS NOT NULL AND j.tenant_id <> g.tenant_id AND j.tenant_id <> 'global'
