UPDATE direct_reservations SET expires_at = :expires_at
WHERE reservation_id = :id AND status = 'ACTIVE' AND expires_at > :now
