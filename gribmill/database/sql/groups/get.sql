SELECT * FROM job_groups WHERE id = :group_id
