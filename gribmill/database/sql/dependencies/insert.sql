INSERT INTO job_dependencies (parent_id, job_id, on_failure) VALUES (:parent_id, :job_id, :on_failure)
