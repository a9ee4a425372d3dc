SELECT id, label FROM job_triggers WHERE template_id = :id ORDER BY id
