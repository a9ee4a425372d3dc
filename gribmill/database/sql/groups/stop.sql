UPDATE job_groups SET stopped_at = coalesce(stopped_at, :now) WHERE id = :group_id
