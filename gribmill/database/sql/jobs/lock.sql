-- Serializes decisions about the job. Needs no lock in SQLite, which has a single writer.
SELECT * FROM jobs WHERE id = :job_id
