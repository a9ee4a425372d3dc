SELECT * FROM tenants ORDER BY name
