SELECT NULL AS job_id, 'webhook ' || webhook_id || ': no job delivers event ' || event_id AS detail
FROM webhook_deliveries WHERE job_id IS NULL
