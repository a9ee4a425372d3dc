-- Sets the next slot of a schedule that `gribmill run` manages.
UPDATE job_triggers SET next_trigger_at = :slot, updated_at = :now WHERE id = :id AND cron_expr = '@adaptive'
