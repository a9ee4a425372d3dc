-- Which of these jobs has dependents: a statement of its own after the one that completes, so that it sees those which
-- were added while that one waited.
INSERT INTO ended_parents (job_id)
SELECT DISTINCT p.id FROM job_dependencies d JOIN jobs p ON p.id = d.parent_id
WHERE d.parent_id = ANY (:ids::bigint[]) AND p.status = 'completed'
ON CONFLICT DO NOTHING
RETURNING job_id
