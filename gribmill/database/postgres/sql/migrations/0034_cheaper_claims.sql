-- A statement initializes every part of its plan each time it runs, also parts that are never used. What only few claims
-- look at is in functions: limits of types and tags, and reservations that are shared with a worker. Their looks are
-- those of the statement that calls them.
CREATE FUNCTION gribmill_has_room(kind text, most integer, tags text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN kind <> ALL (string_to_array(current_setting('gribmill.busy', true), E'\n'))
    AND (most IS NULL OR most > (
      SELECT count(DISTINCT batch_id) FROM jobs WHERE type = kind AND status = 'processing'))
    AND (tags = '[]' OR NOT EXISTS (
      SELECT 1 FROM json_array_elements_text(tags::json) tag JOIN resource_limits r ON r.tag = tag.value
      WHERE r.most <= (
        SELECT count(DISTINCT b.batch_id) FROM jobs b JOIN job_definitions bd ON bd.key = b.type
        WHERE b.status = 'processing' AND bd.resources <> '[]' AND EXISTS (
          SELECT 1 FROM json_array_elements_text(bd.resources::json) bt WHERE bt.value = r.tag))));
END $$;
CREATE FUNCTION gribmill_shares(reservation text, worker text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM reservation_workers w WHERE w.reservation_id = reservation AND w.worker_id = worker);
END $$;

-- The jobs of a tenant and of a group are found by an index. PostgreSQL would rather look up all rows of the tenant and
-- all that it requested, if it could find those by an index too: the condition must not be one that an index answers.
DROP POLICY of_requester ON jobs;
CREATE POLICY of_requester ON jobs FOR SELECT
  USING (gribmill_tenant() IS NOT NULL AND requested_by IS NOT DISTINCT FROM gribmill_tenant());
-- With the columns that the policies compare, so that jobs of a group are counted from the index alone.
DROP INDEX jobs_in_group;
DROP INDEX jobs_group_status;
CREATE INDEX jobs_group_status ON jobs (group_id, status, type, dedupe_key) INCLUDE (tenant_id, requested_by)
  WHERE group_id IS NOT NULL;
