UPDATE trigger_firings SET job_id = :job_id WHERE trigger_id = :trigger_id AND fire_key = :fire_key
