SELECT count(*) AS hours, coalesce(sum(bytes), 0) AS bytes FROM hours WHERE state = 'ingested'
