SELECT backoff_base_s, backoff_cap_s, on_lost FROM job_definitions WHERE key = :key
