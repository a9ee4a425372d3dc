"""The settings of a test run about servers. Read when pytest starts, because tests remove such variables."""

from __future__ import annotations

import os

GIVEN_POSTGRES = os.environ.get("GRIBMILL_TEST_POSTGRES")
"""The URL of a server to use instead of starting one; its user may create databases."""

_RUN_PID = "PYTEST_RUN_PID_OF_GRIBMILL"
RUN_PID = os.environ.get(_RUN_PID) or str(os.getpid())
"""The process that started the others of this run: all of them find the same servers by its id."""
os.environ[_RUN_PID] = RUN_PID

_POSTGRES_PID = "PYTEST_POSTGRES_PID_OF_GRIBMILL"


def _postgres_pid() -> str:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    owner, _, pid = os.environ.get(_POSTGRES_PID, "").partition(":")
    if not pid or owner != worker:
        pid = str(os.getpid())
    os.environ[_POSTGRES_PID] = f"{worker}:{pid}"
    return pid


# On a server that several test processes share, an open transaction of one test would hold back the events of another:
# readers wait for every transaction that began before, in any database of the server.
POSTGRES_PID = RUN_PID if GIVEN_POSTGRES is not None else _postgres_pid()
"""The test process: it has its own PostgreSQL server, which the processes that it starts use too."""
