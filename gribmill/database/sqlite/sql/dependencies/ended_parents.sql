-- Ended parents, with the group that a failure stops (none if a new job retries the failed one).
SELECT j.id, j.status, e.retry_due,
  CASE WHEN j.group_id IS NOT NULL AND j.status = 'failed'
      AND EXISTS (SELECT 1 FROM job_groups g WHERE g.id = j.group_id AND g.on_failure = 'stop')
      AND NOT EXISTS (SELECT 1 FROM jobs r WHERE r.retry_of = j.id AND r.retry_of IS NOT NULL)
    THEN j.group_id END AS stopped_group
FROM ended_parents e CROSS JOIN jobs j ON j.id = e.job_id LIMIT 100
