-- So that what depends on the job is decided by one transaction at a time; SQLite has one writer anyway.
SELECT * FROM jobs WHERE id = :job_id
