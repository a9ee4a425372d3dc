-- Checks again, because a job may have been added between the first check and its lock.
DELETE FROM job_groups WHERE id = ANY (ARRAY(SELECT json_array_elements_text(:ids::json)::bigint))
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.group_id = job_groups.id AND j.group_id IS NOT NULL)
