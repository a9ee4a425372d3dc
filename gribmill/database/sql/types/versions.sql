SELECT version, changed_at, changed_by, change, definition FROM definition_versions WHERE key = :key ORDER BY version
