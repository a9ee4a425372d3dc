DELETE FROM direct_reservations WHERE status <> 'ACTIVE' AND expires_at < :before
