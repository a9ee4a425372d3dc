-- include claims/parts/job
FROM jobs j CROSS JOIN job_definitions d ON d.key = j.type WHERE j.id = :job_id
