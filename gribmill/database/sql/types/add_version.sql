INSERT INTO definition_versions (key, version, changed_at, changed_by, change, definition)
VALUES (:key, :version, :now, :changed_by, :change, :definition)
