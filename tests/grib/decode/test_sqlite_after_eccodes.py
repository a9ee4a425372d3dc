"""The ecCodes wheel contains an old SQLite; decoding first must not replace Python's own."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    "first", ["gribmill.grib.decode.eccodes", "gribmill.grib.open_grib", "gribmill.sandbox.grib_writer.grib_message"]
)
def test_decoding_first_leaves_python_its_own_sqlite(first: str) -> None:
    code = f"import {first}, eccodes; eccodes.codes_get_api_version(); import sqlite3; print(sqlite3.sqlite_version)"
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    plain = subprocess.run(
        [sys.executable, "-c", "import sqlite3; print(sqlite3.sqlite_version)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert ours == plain
