SELECT backoff_base_s, backoff_cap_s, on_lost, backoff_jitter FROM job_definitions WHERE key = :key
