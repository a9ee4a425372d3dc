UPDATE direct_reservations SET status = 'RELEASED' WHERE reservation_id = :id AND status = 'ACTIVE'
