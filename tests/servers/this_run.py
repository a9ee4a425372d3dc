"""The settings of a test run about servers. Read when pytest starts, because tests remove such variables."""

from __future__ import annotations

import os

GIVEN_POSTGRES = os.environ.get("GRIBMILL_TEST_POSTGRES")
"""The URL of a server to use instead of starting one; its user may create databases."""

_RUN_PID = "PYTEST_RUN_PID_OF_GRIBMILL"
RUN_PID = os.environ.get(_RUN_PID) or str(os.getpid())
"""The process that started the others of this run: all of them find the same servers by its id."""
os.environ[_RUN_PID] = RUN_PID
