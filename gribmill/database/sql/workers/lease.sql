SELECT holder, expires_at FROM queue_leases WHERE name = :name
