UPDATE job_definitions SET is_active = :is_active, updated_at = :now WHERE key = :key AND is_active <> :is_active
