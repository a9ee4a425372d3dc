SELECT max_running - (
  SELECT count(*) FROM jobs INDEXED BY jobs_lease WHERE status = 'processing' AND claimant = :tenant_id) AS room
FROM tenants WHERE name = :tenant_id AND max_running IS NOT NULL
