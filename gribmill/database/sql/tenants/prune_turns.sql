DELETE FROM tenant_turns WHERE served_at < :before
