UPDATE job_triggers SET is_enabled = :is_enabled, next_trigger_at = :slot, updated_at = :now WHERE id = :id
