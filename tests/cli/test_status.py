"""What `gribmill status` prints for incomplete runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from gribmill.pipeline.context import make_context
from gribmill.settings.schema import Settings
from tests.cli.conftest import Run
from tests.pipeline.conftest import Scribe

RUN_ID = "20261101_12"


@pytest.fixture
def scribe(data: Path) -> Scribe:
    context = make_context(Settings(data=data))
    return Scribe(context.catalogue, context.root)


def build(scribe: Scribe, hours: Iterable[int], *regions: str) -> None:
    for hour in hours:
        scribe.hour(RUN_ID, hour, regions)
        for region in regions:
            scribe.tile(RUN_ID, hour, region)


def missing(gribmill: Run) -> list[str]:
    lines = gribmill("status", "hrrr").out.splitlines()
    return [line.partition("missing: ")[2] for line in lines if "missing: " in line]


def test_hours_that_are_here_are_not_among_the_missing(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [*range(19)])
    build(scribe, (0, 6, 12, 18), "ne")
    assert missing(gribmill) == ["1-5, 7-11, 13-17 late"]


def test_hours_that_a_run_does_not_have_do_not_split_ranges(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [*range(0, 19, 3)])
    build(scribe, (0, 9), "ne")
    assert missing(gribmill) == ["3-6, 12-18 late"]


def test_hours_of_one_reason_stand_together(gribmill: Run, scribe: Scribe) -> None:
    scribe.run(RUN_ID, [*range(5)])
    build(scribe, [0], "ne")
    scribe.hour(RUN_ID, 2, ["ne"])
    assert missing(gribmill) == ["1, 3-4 late; 2 downloaded, tiles missing"]


def test_regions_are_named_where_not_all_of_them_lack_the_hour(
    gribmill: Run, scribe: Scribe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIBMILL_CHAIN_MODELS", "hrrr")
    monkeypatch.setenv("GRIBMILL_CHAIN_REGIONS", "ne,texas")
    scribe.run(RUN_ID, [*range(4)])
    build(scribe, [0], "ne", "texas")
    build(scribe, [1, 2], "ne")
    answer = gribmill("status", "hrrr")
    assert f"{RUN_ID}  1/4 hours  4/8 tiles" in answer.out
    assert answer.code == 1
    assert missing(gribmill) == ["1-2 downloaded, tiles missing (texas); 3 late"]
