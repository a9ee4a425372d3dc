UPDATE job_dependencies SET parent_id = :new_id
WHERE parent_id = :old_id AND job_id IN (SELECT job_id FROM job_dependencies d JOIN jobs j ON j.id = d.job_id
  WHERE d.parent_id = :old_id AND j.status = 'pending')
