-- A shared lock: until this transaction ends, no job is added to the groups of these jobs, and none is cancelled.
SELECT id FROM job_groups
WHERE id = ANY (ARRAY(SELECT group_id FROM jobs WHERE id = ANY (:ids::bigint[]))) AND on_failure <> 'stop'
ORDER BY id FOR SHARE
