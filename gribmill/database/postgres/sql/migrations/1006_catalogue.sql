-- The catalogue as SQLite's migrations up to 1006 make it.
CREATE TABLE runs (
  model_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  hours text NOT NULL,                      -- JSON list: the hours that make it whole
  final integer NOT NULL DEFAULT 1,         -- 0 while the hours of the run are still being discovered
  state text NOT NULL DEFAULT 'arriving' CHECK (state IN ('arriving','complete','given_up')),
  first_seen_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  PRIMARY KEY (model_id, run_id)
);
CREATE TABLE hours (
  model_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  hour integer NOT NULL,
  state text NOT NULL DEFAULT 'published' CHECK (state IN ('published','ingested','built')),
  published_at timestamptz(3),
  seen_at timestamptz(3) NOT NULL,
  mirror text,
  size bigint,
  url text,
  etag text,
  bytes bigint,
  requested_bytes bigint,
  requests bigint,
  sha256 text,
  found text,                               -- JSON lists
  missing text,
  regions text,
  keep_grib integer NOT NULL DEFAULT 0,
  ingested_at timestamptz(3),
  built_at timestamptz(3),
  asked text,
  failed_at timestamptz(3),
  error text,
  generation bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (model_id, run_id, hour)
);
CREATE INDEX hours_waiting ON hours (bytes) WHERE state = 'ingested';
CREATE TABLE tiles (
  model_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  region text COLLATE "C" NOT NULL,
  hour integer NOT NULL,
  bytes bigint NOT NULL,
  built_at timestamptz(3) NOT NULL,
  generation bigint NOT NULL DEFAULT 0,
  variables text,
  lost_at timestamptz(3),
  PRIMARY KEY (model_id, run_id, region, hour)
);
CREATE INDEX tiles_lost ON tiles (model_id, run_id) WHERE lost_at IS NOT NULL;
CREATE TABLE mirrors (
  name text COLLATE "C" PRIMARY KEY,
  failures bigint NOT NULL DEFAULT 0,
  last_error text,
  last_failed_at timestamptz(3),
  last_ok_at timestamptz(3),
  sick_until timestamptz(3),
  asked_until timestamptz(3)
);
CREATE TABLE outages (family text PRIMARY KEY, began_at timestamptz(3) NOT NULL);
CREATE TABLE freshness (
  model_id text COLLATE "C" NOT NULL,
  region text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('ok','late','stale')),
  cause text,
  since timestamptz(3) NOT NULL,
  stale_at timestamptz(3),
  PRIMARY KEY (model_id, region)
);

-- Two JSON lists of texts as one, without duplicates; NULL is an empty list.
CREATE FUNCTION gribmill_union(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(json_agg(value ORDER BY value COLLATE "C"), '[]')::text FROM (
    SELECT json_array_elements_text(coalesce(a, '[]')::json) AS value
    UNION SELECT json_array_elements_text(coalesce(b, '[]')::json)) AS both_lists
$$;
