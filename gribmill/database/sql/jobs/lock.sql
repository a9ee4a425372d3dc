-- One transaction at a time decides what depends on the job; SQLite has one writer anyway.
SELECT * FROM jobs WHERE id = :job_id
