-- While a job of a priority is parked behind the others, new jobs of that priority go behind it: positions are in use.
CREATE TRIGGER jobs_behind_parked AFTER INSERT ON jobs
  WHEN NEW.position = 0 AND NEW.status = 'pending'
    AND EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_moved
      WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority AND position > 0) BEGIN
  UPDATE jobs SET position = 100 + (SELECT max(position) FROM jobs INDEXED BY jobs_moved
    WHERE status = 'pending' AND position <> 0 AND priority = NEW.priority)
  WHERE id = NEW.id;
END;

-- The workers that a reservation does not hold back: those of its own holder.
CREATE TABLE reservation_workers (
  reservation_id TEXT NOT NULL REFERENCES direct_reservations(reservation_id) ON DELETE CASCADE,
  worker_id TEXT NOT NULL,
  PRIMARY KEY (reservation_id, worker_id)
) WITHOUT ROWID;
