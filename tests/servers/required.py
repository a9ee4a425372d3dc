"""Skips or fails a test whose server is unavailable."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

# Read when pytest starts: tests remove such variables for a while.
SERVERS_REQUIRED = os.environ.get("GRIBMILL_REQUIRE_SERVERS") == "1"


def unavailable(reason: str) -> NoReturn:
    """Skip the test with this sentence; with GRIBMILL_REQUIRE_SERVERS=1, as in CI, fail it."""
    if SERVERS_REQUIRED:
        pytest.fail(f"GRIBMILL_REQUIRE_SERVERS=1: {reason}", pytrace=False)
    pytest.skip(reason)
