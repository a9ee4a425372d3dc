-- A job that several tenants requested uses no tenant's turn and belongs to no tenant's group: the limits of one tenant
-- must not delay it, and none of them may cancel it.
UPDATE jobs SET requested_by = NULL, group_id = NULL
WHERE id = :job_id AND status IN ('pending','processing') AND requested_by IS NOT NULL
