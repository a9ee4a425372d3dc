-- Where a job of the type queues up when its time has come: by its arrival, or behind those that wait already.
ALTER TABLE job_definitions ADD COLUMN queue_order TEXT NOT NULL DEFAULT 'arrival' CHECK (queue_order IN ('arrival','due'));
