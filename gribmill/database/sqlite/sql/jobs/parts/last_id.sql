  -- The last id that was given to a job.
  max((SELECT coalesce(max(id), 0) FROM jobs), coalesce((SELECT id FROM newest_deleted_job), 0))
