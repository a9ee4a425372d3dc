SELECT tenant_id FROM tenant_turns WHERE types = :types AND priority = :priority
