UPDATE job_triggers SET last_triggered_at = :now WHERE id = :id
