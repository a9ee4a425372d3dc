-- The stored id is what AUTOINCREMENT goes on from: manual statements use it.
UPDATE sqlite_sequence SET seq = ? WHERE name = 'jobs' AND seq < ?
