-- Tenants whose jobs may not start: disabled, or at their limit of jobs in flight.
SELECT name FROM tenants INDEXED BY tenants_disabled WHERE disabled_at IS NOT NULL
UNION SELECT t.name FROM (
  SELECT claimant, count(*) AS running FROM jobs INDEXED BY jobs_lease
  WHERE status = 'processing' AND claimant <> 'global' GROUP BY claimant) r
CROSS JOIN tenants t ON t.name = r.claimant WHERE t.max_running <= r.running
