DELETE FROM job_templates WHERE id = :id
