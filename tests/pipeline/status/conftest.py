"""A run of hrrr, the job types of the chain, and a disk with as much space as a test wants."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import NamedTuple

import pytest

CHAIN = ("scan_source", "ingest_grib", "build_tile", "publish")
RUN = datetime(2026, 11, 1, 13, tzinfo=UTC)
RUN_ID = "20261101_13"


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def set_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - free, free))


@pytest.fixture(autouse=True)
def large_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    set_free(monkeypatch, 50_000_000_000)
