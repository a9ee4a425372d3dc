DELETE FROM trigger_firings WHERE fired_at < :before
