INSERT INTO reservation_workers (reservation_id, worker_id)
SELECT reservation_id, :worker_id FROM direct_reservations
WHERE reservation_id = :id AND status = 'ACTIVE' AND expires_at > :now
ON CONFLICT (reservation_id, worker_id) DO UPDATE SET worker_id = excluded.worker_id
