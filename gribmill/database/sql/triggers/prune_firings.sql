DELETE FROM trigger_firings WHERE (trigger_id, fire_key) IN (
  SELECT trigger_id, fire_key FROM trigger_firings WHERE fired_at < :before LIMIT :limit)
