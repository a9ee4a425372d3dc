SELECT backoff_base_s, backoff_cap_s, on_lost, backoff_jitter, poll_limit, retry_as FROM job_definitions WHERE key = :key
