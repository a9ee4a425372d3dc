"""Conflicting libraries are loaded in the right order."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_decoding_first_does_not_give_the_queue_ecCodes_own_sqlite() -> None:
    alone = run("import sqlite3; print(sqlite3.sqlite_version)")
    after = run(
        "import gribmill; gribmill.build; import eccodes; eccodes.codes_get_api_version();"
        "import sqlite3; print(sqlite3.sqlite_version)"
    )
    assert after == alone
