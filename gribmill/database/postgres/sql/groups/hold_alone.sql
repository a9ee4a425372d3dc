-- Exclusive for groups that a failure stops: two transactions stopping the same group would deadlock.
SELECT id FROM job_groups
WHERE id = ANY (ARRAY(SELECT group_id FROM jobs WHERE id = ANY (:ids::bigint[]))) AND on_failure = 'stop'
ORDER BY id FOR NO KEY UPDATE
