SELECT key, batch_max, max_running FROM job_definitions
WHERE key IN (SELECT value FROM json_each(:types)) AND is_active = 1 AND paused_at IS NULL
