-- What a request for one tenant may change; database triggers, which run as the owner, do the rest.
      (VALUES ('jobs', 'INSERT'), ('jobs', 'UPDATE'), ('job_dependencies', 'INSERT'),
        ('job_groups', 'INSERT'), ('job_groups', 'UPDATE'),
        ('job_templates', 'INSERT'), ('job_templates', 'UPDATE'), ('job_templates', 'DELETE'),
        ('job_triggers', 'INSERT'), ('job_triggers', 'UPDATE'), ('job_triggers', 'DELETE'),
        ('trigger_firings', 'INSERT'), ('trigger_firings', 'UPDATE'),
        ('webhooks', 'INSERT'), ('webhooks', 'UPDATE'), ('webhooks', 'DELETE'),
        ('webhook_deliveries', 'INSERT'), ('webhook_deliveries', 'UPDATE'), ('events', 'INSERT')
      ) AS w (relation, privilege)
