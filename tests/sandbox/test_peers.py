"""Third-party clients read from the sandbox, in a separate environment: `make soak`, or `pytest -m soak`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from gribmill.grib.messages import walk
from gribmill.sandbox.publisher.server import Server

PACKAGES = ("herbie-data", "ecmwf-opendata", "boto3", "obstore")
# Kept from one run to the next: it takes a minute to install.
ENVIRONMENT = Path(tempfile.gettempdir()) / "gribmill-mirror-peers"
INSTALL_SECONDS = 900

pytestmark = [pytest.mark.soak, pytest.mark.timeout(INSTALL_SECONDS + 300)]


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter of an environment with the clients; skips the test if they cannot be installed."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "ready").exists():
        steps = [[sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)],
                 [str(python), "-m", "pip", "install", "-q", *PACKAGES]]  # fmt: skip
        for step in steps:
            try:
                done = subprocess.run(step, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
            except subprocess.TimeoutExpired:
                pytest.skip(f"{', '.join(PACKAGES)} could not be installed in {INSTALL_SECONDS} s")
            if done.returncode:
                pytest.skip(f"{', '.join(PACKAGES)} cannot be installed here: {done.stderr.strip()[-300:]}")
        (ENVIRONMENT / "ready").touch()
    return str(python)


def run(python: str, script: str, *arguments: str, home: Path) -> dict[str, Any]:
    path = Path(__file__).parent / "peers" / script
    environment = {**os.environ, "HOME": str(home), "HERBIE_CONFIG_PATH": str(home), "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [python, str(path), *arguments], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def test_herbie_reads_an_hour_by_its_index(filled: Path, tmp_path: Path, python: str) -> None:
    with Server(filled) as server:
        found = run(
            python,
            "read_with_herbie.py",
            f"{server.url}aws-hrrr/",
            "2026-09-01 12:00",
            "3",
            str(tmp_path),
            home=tmp_path,
        )
        ranges = [one for one in server.seen if one.range and one.status == 206]
    assert found["lines"] == 57 and found["rain"] == ["0-3 hour acc fcst", "2-3 hour acc fcst"]
    assert found["shape"] == [53, 90] and 250 < found["mean_t2m"] < 310
    assert found["wind"] == ["u10", "v10"] and found["valid"].startswith("2026-09-01T15:00")
    assert ranges and sum(one.sent for one in ranges) < (filled / ranges[0].key).stat().st_size / 2


@pytest.mark.parametrize("many", [False, True])
def test_ecmwfs_own_client_reads_a_step(filled: Path, tmp_path: Path, python: str, many: bool) -> None:
    """As its cloud sources (one range a request), and as its own server (several)."""
    with Server(filled, multi_range=many) as server:
        arguments = (f"{server.url}aws-ecmwf/", "20260901", "12", "3", str(tmp_path), "many" if many else "single")
        found = run(python, "read_with_ecmwf_opendata.py", *arguments, home=tmp_path)
        statuses = [one.status for one in server.seen]
    whole = filled / "aws-ecmwf/20260901/12z/ifs/0p25/oper/20260901120000-3h-oper-fc.grib2"
    some = (tmp_path / "some.grib2").read_bytes()
    assert len(list(walk(some, "some"))) == 3 and len(list(walk((tmp_path / "levels.grib2").read_bytes(), "t"))) == 2
    assert (tmp_path / "whole.grib2").read_bytes() == whole.read_bytes()
    assert found["run"] == "2026-09-01 12:00:00" and 206 in statuses


def test_boto3_and_obstore_list_and_read_a_bucket(filled: Path, tmp_path: Path, python: str) -> None:
    prefix = "hrrr.20260901/conus/"
    with Server(filled) as server:
        found = run(python, "list_with_clouds.py", server.url, "aws-hrrr", prefix, home=tmp_path)
    keys = sorted(str(path.relative_to(filled / "aws-hrrr")) for path in (filled / "aws-hrrr" / prefix).iterdir())
    assert found["keys"] == found["old"] == found["obstore"] == keys and found["pages"] == 3
    assert found["folders"] == ["hrrr.20260901/"]
    assert found["size"] == (filled / "aws-hrrr" / keys[0]).stat().st_size
    assert found["body"] == found["obstore_range"] == "GRIB"
    assert found["codes"] == ["NoSuchKey", "InvalidRange", "PreconditionFailed"]
