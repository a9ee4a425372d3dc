-- Jobs of shared types belong to `global`, even in a tenant's group.
SELECT j.id AS job_id, 'it belongs to ' || j.tenant_id || ', its group to ' || g.tenant_id AS detail
FROM job_groups g JOIN jobs j ON j.group_id = g.id
WHERE j.group_id IS NOT NULL AND j.tenant_id <> g.tenant_id AND j.tenant_id <> 'global'
