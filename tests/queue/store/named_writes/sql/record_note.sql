INSERT INTO notes (job_id, text, at) VALUES (:job_id, :text, :now)
