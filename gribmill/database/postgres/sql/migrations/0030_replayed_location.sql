-- A repeated request gets the Location of the first answer too.
ALTER TABLE idempotency_keys ADD COLUMN location TEXT;
