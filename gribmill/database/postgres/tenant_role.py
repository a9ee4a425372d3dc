"""The role under which requests for one tenant run: row-level security hides the rows of other tenants from it.

gribmill connects as the owner of the tables, to whom row-level security does not apply.
"""

from __future__ import annotations

from typing import NamedTuple

from gribmill.database.postgres.connection import Connection
from gribmill.database.postgres.migrate import LOCK_SPACE, MIGRATING
from gribmill.database.postgres.statements import script

# Lasts until the end of the transaction. `$user` in the search path must still resolve to the connecting role.
ENTER = (
    "SELECT set_config('search_path', array_to_string(ARRAY(SELECT quote_ident(name)"
    " FROM unnest(current_schemas(false)) AS name), ','), true),"
    " set_config('gribmill.tenant', %s, true), set_config('gribmill.role', current_setting('role'), true),"
    " set_config('role', 'gribmill_tenant', true)"
)
LEAVE = "SELECT set_config('role', current_setting('gribmill.role'), true)"
ADVICE = (
    "row-level security does not limit requests for one tenant: as an administrator of the server run"
    " CREATE ROLE gribmill_tenant NOLOGIN and GRANT gribmill_tenant TO the user of gribmill,"
    " then run `gribmill db migrate` and restart `gribmill serve`"
)


class RoleState(NamedTuple):
    """Whether the role can be used, and whether there are several tenants."""

    ready: bool
    wanted: bool


def role_state(connection: Connection) -> RoleState:
    row = connection.execute(script("tenant_role/is_ready").encode()).fetchone()
    assert row is not None  # a SELECT without FROM returns one row
    return RoleState(*row)


def set_up_role(connection: Connection) -> None:
    """Create the role and grant it what it needs, as far as the connecting user may. Roles belong to the whole server;
    each database grants access to its own tables."""
    if role_state(connection).ready:
        return
    with connection.transaction():
        connection.execute("SET LOCAL lock_timeout = '300s'")
        connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_SPACE, MIGRATING))
        connection.execute(script("tenant_role/set_up").encode())
