-- A group that a failure stops is held by one transaction at a time: two that stop it would wait for each other.
SELECT id FROM job_groups
WHERE id = ANY (ARRAY(SELECT group_id FROM jobs WHERE id = ANY (:ids::bigint[]))) AND on_failure = 'stop'
ORDER BY id FOR NO KEY UPDATE
