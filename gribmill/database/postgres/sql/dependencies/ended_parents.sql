-- Ended parents, with the group that a failure stops (none if a new job retries the failed one). Skips rows that
-- another transaction is settling. Scalar subqueries, which the planner cannot turn into a hash join over all rows.
SELECT j.id, j.status, e.retry_due,
  CASE WHEN j.group_id IS NOT NULL AND j.status = 'failed'
      AND (SELECT g.on_failure FROM job_groups g WHERE g.id = j.group_id) = 'stop'
      AND (SELECT r.id FROM jobs r WHERE r.retry_of = j.id AND r.retry_of IS NOT NULL LIMIT 1) IS NULL
    THEN j.group_id END AS stopped_group
FROM ended_parents e JOIN jobs j ON j.id = e.job_id ORDER BY e.job_id LIMIT 100 FOR UPDATE OF e SKIP LOCKED
