INSERT INTO outages (family, began_at) VALUES (:family, :now) ON CONFLICT DO NOTHING
