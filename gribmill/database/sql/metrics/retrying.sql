-- Jobs that wait for their next attempt after a failed one.
SELECT tenant_id, type, count(*) AS n FROM jobs INDEXED BY jobs_due
WHERE status = 'pending' AND next_run_at IS NOT NULL AND retry_count > 0 GROUP BY tenant_id, type
