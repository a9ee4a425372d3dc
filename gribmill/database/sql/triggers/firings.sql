SELECT f.fire_key AS occasion, f.job_id, f.fired_at, j.status AS job_status
FROM trigger_firings f LEFT JOIN jobs j ON j.id = f.job_id
WHERE f.trigger_id = :id ORDER BY f.fired_at DESC, f.fire_key DESC LIMIT :limit
