UPDATE mirrors SET failures = 0, sick_until = NULL, asked_until = NULL WHERE name = :name
