"""latest.json never moves back, and never lists a partial run as complete."""

from __future__ import annotations

import json
import os

import pytest

from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.publish import known_runs
from gribmill.storage.latest import LatestFiles, LatestRuns, publish_latest, read_latest
from tests.local_path import local
from tests.pipeline.conftest import Scribe

OLD, NEW = "20261101_12", "20261101_18"


def published(context: Context) -> dict[str, LatestRuns]:
    return publish_latest(context.root, "hrrr", lambda: known_runs(context.catalogue, "hrrr"))


def whole(scribe: Scribe, run_id: str, region: str = "ne") -> None:
    scribe.run(run_id, [0, 1])
    for hour in (0, 1):
        scribe.hour(run_id, hour, [region])
        scribe.tile(run_id, hour, region)


def test_partial_run_is_newest_but_not_complete(context: Context, scribe: Scribe) -> None:
    whole(scribe, OLD)
    scribe.run(NEW, [0, 1])
    scribe.hour(NEW, 0, ["ne"])
    scribe.tile(NEW, 0, "ne")
    assert published(context)["ne"] == LatestRuns(NEW, OLD)
    assert LatestFiles(context.root)["hrrr"].hours == {OLD: 2, NEW: 2}


def test_regions_become_complete_independently(context: Context, scribe: Scribe) -> None:
    whole(scribe, OLD)
    scribe.tile(OLD, 0, "se")
    assert published(context) == {"ne": LatestRuns(OLD, OLD), "se": LatestRuns(OLD, None)}
    assert json.loads(context.root.latest("hrrr").read_bytes()) == {
        "model": "hrrr",
        "regions": {"ne": {"newest": OLD, "complete": OLD}, "se": {"newest": OLD, "complete": None}},
        "hours": {OLD: 2},
    }


def test_backfill_of_an_older_run_moves_nothing_back(context: Context, scribe: Scribe) -> None:
    whole(scribe, NEW)
    published(context)
    whole(scribe, OLD)
    assert published(context)["ne"] == LatestRuns(NEW, NEW)


def test_entries_of_latest_json_survive_a_lost_catalogue(context: Context, scribe: Scribe) -> None:
    path = context.root.latest("hrrr")
    local(path).parent.mkdir(parents=True)
    known = {"model": "hrrr", "regions": {"ne": {"newest": NEW, "complete": NEW}}}
    local(path).write_text(json.dumps(known))
    whole(scribe, OLD)
    published(context)
    assert json.loads(path.read_bytes()) == known


@pytest.mark.parametrize(
    "text",
    [
        "{half",
        "[]",
        '{"hours": [2]}',
        '{"hours": {"20261101_12": "2"}}',
        '{"regions": 7}',
        '{"regions": {"ne": [1]}}',
        '{"regions": {"ne": {"newest": 1}}}',
        '{"regions": {"ne": {"newest": "zz/../x", "complete": "20269999_00"}}}',
    ],
)
def test_a_damaged_latest_json_is_rewritten(context: Context, scribe: Scribe, text: str) -> None:
    path = context.root.latest("hrrr")
    local(path).parent.mkdir(parents=True)
    local(path).write_text(text)
    whole(scribe, OLD)
    published(context)
    assert read_latest(context.root, "hrrr")["ne"] == LatestRuns(OLD, OLD)


@pytest.mark.timeout(20)
def test_a_named_pipe_in_its_place_is_not_waited_for(context: Context) -> None:
    path = local(context.root.latest("hrrr"))
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert read_latest(context.root, "hrrr") == {}
