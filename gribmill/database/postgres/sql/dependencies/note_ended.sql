-- Records which of these jobs have dependents. Separate from the statement that completes them, so that it sees
-- dependents added while that one waited. Only jobs completed by this transaction: a late report about a job that had
-- completed before must not release its dependents a second time.
INSERT INTO ended_parents (job_id)
SELECT DISTINCT p.id FROM job_dependencies d JOIN jobs p ON p.id = d.parent_id
WHERE d.parent_id = ANY (:ids::bigint[]) AND p.status = 'completed' AND p.xmin = pg_current_xact_id()::xid
ON CONFLICT DO NOTHING
RETURNING job_id
