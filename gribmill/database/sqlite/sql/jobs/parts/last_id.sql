  -- The last id assigned to a job.
  max((SELECT coalesce(max(id), 0) FROM jobs), coalesce((SELECT id FROM newest_deleted_job), 0))
