SELECT extract(epoch FROM next_at - :now::timestamptz)::float8 AS seconds FROM publisher_turns WHERE host = :host
