INSERT INTO mirrors (name, failures, last_error, last_failed_at, last_ok_at, sick_until, asked_until)
VALUES (:name, :failures, :last_error, :last_failed_at, :last_ok_at, :sick_until, :asked_until)
ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
  last_error = coalesce(excluded.last_error, mirrors.last_error),
  last_failed_at = coalesce(excluded.last_failed_at, mirrors.last_failed_at),
  last_ok_at = coalesce(excluded.last_ok_at, mirrors.last_ok_at), sick_until = excluded.sick_until,
  asked_until = excluded.asked_until
