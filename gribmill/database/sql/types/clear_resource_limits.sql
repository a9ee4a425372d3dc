DELETE FROM resource_limits
