-- What was given by the type alone can be given by a job, and polling has a bound.
ALTER TABLE jobs ADD COLUMN timeout_seconds INTEGER;              -- NULL: that of the type
ALTER TABLE job_definitions ADD COLUMN poll_limit INTEGER;        -- the most snoozes of a job; NULL: any number
