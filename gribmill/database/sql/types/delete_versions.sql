DELETE FROM definition_versions WHERE key = :key
