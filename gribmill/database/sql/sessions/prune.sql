DELETE FROM access_sessions WHERE created_at < :before
