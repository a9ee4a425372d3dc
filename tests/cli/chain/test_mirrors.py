"""`gribmill mirrors`: circuit breakers are shown, and can be closed manually."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gribmill.catalogue.events import MirrorObserved
from gribmill.catalogue.reads import Catalogue
from gribmill.pipeline.context import make_context
from gribmill.settings.schema import Settings
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden

REASON = "https://bucket.example/hrrr.t00z: the host name cannot be resolved (DNS)"


@pytest.fixture
def catalogue(data: Path) -> Catalogue:
    return make_context(Settings(data=data)).catalogue


def fail(catalogue: Catalogue, mirror: str, times: int) -> None:
    now = datetime.now(UTC)
    catalogue.record(MirrorObserved(mirror, now, well=False, reason=REASON) for _ in range(times))


def answer(catalogue: Catalogue, mirror: str) -> None:
    catalogue.record([MirrorObserved(mirror, datetime.now(UTC) - timedelta(minutes=5), well=True)])


def summaries(gribmill: Run) -> dict[str, str]:
    return {one["name"]: one["summary"] for one in gribmill("mirrors", "list", "--json").json}


def test_list_shows_the_state_of_each_mirror(gribmill: Run, catalogue: Catalogue) -> None:
    answer(catalogue, "aws-hrrr")
    fail(catalogue, "gcs-hrrr", 1)
    answer(catalogue, "aws-gfs")
    fail(catalogue, "aws-gfs", 2)
    fail(catalogue, "gcs-gfs", 4)
    found = summaries(gribmill)
    assert found["aws-hrrr"] == "well"
    assert found["gcs-hrrr"] == "never answered, failed once: the host name cannot be resolved (DNS)"
    assert found["aws-gfs"] == "failed 2 times: the host name cannot be resolved (DNS)"
    assert found["gcs-gfs"].startswith("sick until ")
    assert "https:" not in gribmill("mirrors", "list").out
    check_golden("mirrors list", gribmill("mirrors", "list", "--json").out)


def test_a_cleared_mirror_is_used_at_once(gribmill: Run, catalogue: Catalogue) -> None:
    fail(catalogue, "aws-hrrr", 5)
    fail(catalogue, "gcs-hrrr", 5)
    assert gribmill("mirrors", "clear", "aws-hrrr").out == "cleared: aws-hrrr\n"
    health = catalogue.mirrors()
    now = datetime.now(UTC)
    assert (health["aws-hrrr"].state(now), health["gcs-hrrr"].state(now)) == ("closed", "open")
    cleared = gribmill("mirrors", "clear", "--json")
    assert cleared.json == ["gcs-hrrr"]
    check_golden("mirrors clear", cleared.out)
    assert gribmill("mirrors", "clear").out == "no mirror is failing\n"


def test_an_unknown_mirror_is_refused_with_a_suggestion(gribmill: Run) -> None:
    refused = gribmill("mirrors", "clear", "aws-hrr")
    assert refused.code == 2
    assert "did you mean aws-hrrr?" in refused.err


def test_reading_creates_no_database(gribmill: Run, data: Path) -> None:
    for words in (
        ["mirrors", "list"],
        ["mirrors", "clear"],
        ["status"],
        ["jobs", "list"],
        ["workers"],
        ["jobs", "types"],
        ["jobs", "reservations"],
        ["triggers", "list"],
        ["prune", "--dry-run"],
    ):
        gribmill(*words)
        assert not data.exists(), words
