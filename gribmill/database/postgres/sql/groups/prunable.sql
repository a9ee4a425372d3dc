-- Skips groups to which a job is being added.
SELECT id FROM job_groups g WHERE created_at < :before
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.group_id = g.id AND j.group_id IS NOT NULL)
ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED
