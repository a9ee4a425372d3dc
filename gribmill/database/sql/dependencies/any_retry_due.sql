SELECT 1 AS due FROM ended_parents WHERE retry_due = 1 LIMIT 1
