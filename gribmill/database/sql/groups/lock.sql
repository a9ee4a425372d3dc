-- Changes nothing: no other transaction adds to the group, stops it or retries it before this one ends.
UPDATE job_groups SET name = name WHERE id = :group_id
