DELETE FROM recorded_events WHERE name = :name
