INSERT INTO recorded_events (name) VALUES (:name) ON CONFLICT DO NOTHING
