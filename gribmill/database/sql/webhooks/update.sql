UPDATE webhooks SET url = :url, events = :events, secret = :secret, updated_at = :now WHERE id = :id
