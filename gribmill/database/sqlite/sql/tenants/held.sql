SELECT name, disabled_at IS NOT NULL AS is_disabled, max_running FROM tenants
WHERE disabled_at IS NOT NULL OR max_running <= (
  SELECT count(*) FROM jobs INDEXED BY jobs_lease WHERE claimant = tenants.name AND status = 'processing')
