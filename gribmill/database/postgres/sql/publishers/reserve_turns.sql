-- Takes the next turns of a publisher. Returns the seconds until the first, negative for a past one that is still
-- usable, or no row if the wait would be too long. A time beyond the reach of any queue was written while the server's
-- clock was ahead.
INSERT INTO publisher_turns AS t (host, next_at)
VALUES (:host, :now::timestamptz + make_interval(secs => :count * :interval - :late))
ON CONFLICT (host) DO UPDATE SET next_at = make_interval(secs => :count * :interval) + CASE
  WHEN t.next_at > :now::timestamptz + make_interval(secs => :longest_wait + 60) THEN :now::timestamptz
  ELSE greatest(t.next_at, :now::timestamptz - make_interval(secs => :late)) END
WHERE t.next_at <= :now::timestamptz + make_interval(secs => :longest_wait)
  OR t.next_at > :now::timestamptz + make_interval(secs => :longest_wait + 60)
RETURNING extract(epoch FROM next_at - :now::timestamptz)::float8 - :count * :interval AS seconds
