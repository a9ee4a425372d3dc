SELECT NULL AS job_id, d.key || ': version ' || d.version || ' is not recorded' AS detail
FROM job_definitions d LEFT JOIN definition_versions v ON v.key = d.key AND v.version = d.version
WHERE d.version > 0 AND v.key IS NULL
