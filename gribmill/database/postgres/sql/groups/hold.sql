-- A shared lock: until this transaction ends, no other one can add to the groups of these jobs or cancel them.
SELECT id FROM job_groups
WHERE id = ANY (ARRAY(SELECT group_id FROM jobs WHERE id = ANY (:ids::bigint[]))) AND on_failure <> 'stop'
ORDER BY id FOR SHARE
