DELETE FROM job_groups WHERE id IN (SELECT value FROM json_each(:ids))
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.group_id = job_groups.id AND j.group_id IS NOT NULL)
