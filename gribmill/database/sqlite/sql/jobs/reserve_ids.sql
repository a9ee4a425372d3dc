-- AUTOINCREMENT continues from the stored id, which manual statements rely on.
UPDATE sqlite_sequence SET seq = ? WHERE name = 'jobs' AND seq < ?
