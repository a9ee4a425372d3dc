-- The active jobs that no other job of the group waits on: the next job of a sequential group waits on all of them.
SELECT j.id FROM jobs j INDEXED BY jobs_group_status
WHERE j.group_id = :group_id AND j.group_id IS NOT NULL AND j.status IN ('pending','processing')
  AND NOT EXISTS (SELECT 1 FROM job_dependencies d JOIN jobs c ON c.id = d.job_id
    WHERE d.parent_id = j.id AND c.status = 'pending' AND c.group_id = j.group_id)
ORDER BY j.id
