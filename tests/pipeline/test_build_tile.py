"""A tile records the checksum of its messages, computed by the download or by the build."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from gribmill.identity import HourRef
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.build_tile import run
from gribmill.queue.model import Outcome, Succeeded
from gribmill.queue.worker.task import Batch, Task
from gribmill.storage.layout import TileFolder
from gribmill.tiles.read.tile import read_tile
from tests.make_grib import make_hrrr_hour
from tests.pipeline.conftest import Scribe, ingested

RUN = "20260901_12"
RECORDED = "ab" * 32


@pytest.fixture
def spool(context: Context) -> Path:
    path = make_hrrr_hour(context.root.spool(HourRef("hrrr", RUN, 1)), 2)
    earlier = path.stat().st_mtime - 60  # records have whole milliseconds
    os.utime(path, (earlier, earlier))
    return path


def record(context: Context, size: int) -> None:
    facts = {"bytes": size, "sha256": RECORDED, "found": ("t2m", "d2m"), "keep_grib": True, "regions": ("ne",)}
    context.catalogue.record([ingested(HourRef("hrrr", RUN, 1), **facts)])


def outcome_of(context: Context, model_id: str = "hrrr") -> Outcome:
    """Run the job."""
    outcomes: list[Outcome] = []
    args = json.dumps({"model_id": model_id, "run_id": RUN, "hour": 1, "region": "ne"})
    task = Task(1, "build_tile", args, 1, "default", "w", context.settings.model_dump(mode="json"))
    run(Batch([task], lambda task, outcome: outcomes.append(outcome), lambda limit: []))
    (outcome,) = outcomes
    return outcome


def built(context: Context) -> str:
    """Run the job; the checksum in its tile."""
    assert isinstance(outcome_of(context), Succeeded)
    return read_tile(TileFolder(context.root.path, "hrrr", RUN, "ne").tile(60)).meta.source.sha256


def test_the_checksum_of_the_download_is_reused(context: Context, spool: Path) -> None:
    record(context, spool.stat().st_size)
    assert built(context) == RECORDED


def test_a_file_newer_than_its_record_is_hashed_again(context: Context, spool: Path) -> None:
    record(context, spool.stat().st_size)
    later = spool.stat().st_mtime + 120
    os.utime(spool, (later, later))
    assert built(context) == hashlib.sha256(spool.read_bytes()).hexdigest()


def test_a_file_of_another_size_than_recorded_is_hashed_again(context: Context, spool: Path) -> None:
    record(context, spool.stat().st_size + 1)
    assert built(context) == hashlib.sha256(spool.read_bytes()).hexdigest()


@pytest.mark.parametrize("model_id", ["hrrr", "hrrr_subh.m15"])
def test_missing_messages_are_fetched_again_unless_the_tile_exists(
    context: Context, scribe: Scribe, model_id: str
) -> None:
    again = outcome_of(context, model_id)
    assert isinstance(again, Succeeded) and [job.type for job in again.then] == ["ingest_grib"]
    scribe.tile(RUN, 1, "ne", model_id)
    assert outcome_of(context, model_id) == Succeeded(skipped="the tile is there already")
    scribe.place(RUN, 1, "ne", model_id).write_bytes(b"")
    assert outcome_of(context, model_id) == again
