SELECT a.job_id, 'started ' || a.started_at || ' under reservation ' || r.reservation_id AS detail
FROM job_attempts a JOIN jobs j ON j.id = a.job_id
JOIN direct_reservations r ON r.status = 'ACTIVE' AND r.scope IN ('*', j.type)
  AND a.started_at > r.reserved_at AND a.started_at < r.expires_at
  AND NOT EXISTS (SELECT 1 FROM reservation_workers w
    WHERE w.reservation_id = r.reservation_id AND w.worker_id = a.worker_id)
