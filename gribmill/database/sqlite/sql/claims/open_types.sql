SELECT d.key FROM json_each(:types) t
-- include claims/parts/open
