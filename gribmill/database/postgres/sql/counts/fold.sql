-- Adds up the count changes since the last call. Uncommitted rows of other transactions are not seen.
WITH gone AS (DELETE FROM job_count_changes RETURNING tenant_id, type, status, n)
INSERT INTO job_counts AS c (tenant_id, type, status, n)
SELECT tenant_id, type, status, sum(n) FROM gone GROUP BY tenant_id, type, status
ON CONFLICT (tenant_id, type, status) DO UPDATE SET n = c.n + excluded.n
