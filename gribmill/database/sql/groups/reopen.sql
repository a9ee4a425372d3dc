UPDATE job_groups SET stopped_at = NULL WHERE id = :group_id
