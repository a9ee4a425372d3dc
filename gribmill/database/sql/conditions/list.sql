SELECT name, subject, began_at FROM conditions ORDER BY name, subject
