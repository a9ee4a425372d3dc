SELECT name FROM recorded_events ORDER BY name
