-- Fires again only if it last fired before a given moment, or in the future (the clock was ahead).
INSERT INTO trigger_firings (trigger_id, fire_key, fired_at) VALUES (:trigger_id, :fire_key, :now)
ON CONFLICT (trigger_id, fire_key) DO UPDATE SET fired_at = excluded.fired_at, job_id = NULL
WHERE trigger_firings.fired_at <= :before OR (:before IS NOT NULL AND trigger_firings.fired_at > :now)
