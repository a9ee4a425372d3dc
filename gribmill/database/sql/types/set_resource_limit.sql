INSERT INTO resource_limits (tag, most) VALUES (:tag, :most)
