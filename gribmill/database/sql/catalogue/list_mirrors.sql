SELECT * FROM mirrors ORDER BY name
