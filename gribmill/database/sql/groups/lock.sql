-- Only locks the row: no other transaction can add to the group, stop it or retry it before this one ends.
UPDATE job_groups SET name = name WHERE id = :group_id
