INSERT INTO conditions (name, subject, began_at) VALUES (:name, :subject, :now) ON CONFLICT DO NOTHING
