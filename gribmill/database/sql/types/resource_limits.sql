SELECT tag, most FROM resource_limits
