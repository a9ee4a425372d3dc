SELECT * FROM job_triggers ORDER BY id
