"""A backfill requests what is missing, once, and refuses invalid requests."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gribmill.pipeline.backfill import BackfillError, BackfillRequest, enqueue_backfill, plan_backfill, progress_of
from gribmill.pipeline.context import Context
from gribmill.pipeline.open_queue import open_queue
from tests.pipeline.conftest import Scribe

BEGIN, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 1, 23, tzinfo=UTC)


def request(context: Context, **changes: object) -> BackfillRequest:
    wanted = {"cycles": (0, 12), "hours": (0, 1, 2), "regions": ("ne", "europe"), **changes}
    return BackfillRequest(context.models["hrrr"], BEGIN, END, **wanted)  # type: ignore[arg-type]


def test_plan_counts_files_of_the_regions_that_the_model_reaches(context: Context) -> None:
    plan = plan_backfill(context, request(context))
    assert (plan.runs, len(plan.files), plan.regions, plan.tiles) == (2, 6, ("ne",), 6)


def test_files_whose_tiles_are_here_are_left_alone(context: Context, scribe: Scribe) -> None:
    scribe.run("20261101_12", [0, 1, 2])
    scribe.hour("20261101_12", 1, ["ne"])
    scribe.tile("20261101_12", 1, "ne")
    plan = plan_backfill(context, request(context, variables=("t2m",)))
    assert (len(plan.files), plan.done, plan.lacking) == (5, 1, 0)
    assert (datetime(2026, 11, 1, 12, tzinfo=UTC), 1) not in [(file.run, file.hour) for file in plan.files]


@pytest.mark.parametrize("variables", [("u10", "v10"), ()])
def test_files_that_are_here_with_other_variables_are_fetched_with_both(
    context: Context, scribe: Scribe, variables: tuple[str, ...]
) -> None:
    scribe.run("20261101_12", [0])
    scribe.hour("20261101_12", 0, ["ne"])
    scribe.tile("20261101_12", 0, "ne")
    plan = plan_backfill(context, request(context, cycles=(12,), hours=(0,), variables=variables))
    assert (len(plan.files), plan.done, plan.lacking) == (1, 0, 1)
    assert {*plan.files[0].variables} == {*(variables or context.models["hrrr"].variables), "t2m"}


def test_backfill_can_be_followed_and_is_not_doubled(context: Context) -> None:
    store = open_queue(context.settings)
    plan = plan_backfill(context, request(context))
    first = enqueue_backfill(store, plan)
    assert progress_of(store, first)["pending"] == 6
    second = enqueue_backfill(store, plan)
    assert second == first, "who asks again waits for the same jobs"
    other = enqueue_backfill(store, plan_backfill(context, request(context, hours=(0,))))
    assert progress_of(store, other)["pending"] == 0
    assert len(store.jobs.list(limit=100).jobs) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"regions": ("europe",)}, "reaches none of the regions europe"),
        ({"regions": ()}, "at least one region"),
        ({"cycles": (3,), "hours": (), "regions": ("ne",)}, None),
    ],
)
def test_senseless_backfill_is_refused_with_the_reason(
    context: Context, changes: dict[str, object], words: str | None
) -> None:
    if words is None:
        assert plan_backfill(context, request(context, **changes)).runs == 1
        return
    with pytest.raises(BackfillError, match=words):
        plan_backfill(context, request(context, **changes))


def test_backfill_that_ends_before_it_begins_is_refused(context: Context) -> None:
    backwards = BackfillRequest(context.models["hrrr"], END, BEGIN, regions=("ne",))
    with pytest.raises(BackfillError, match="before it begins"):
        plan_backfill(context, backwards)


@pytest.mark.slow
def test_backfill_from_the_first_day_of_the_calendar_is_too_large_not_a_crash(context: Context) -> None:
    ever = BackfillRequest(context.models["hrrr"], datetime(1, 1, 1, tzinfo=UTC), END, regions=("ne",))
    with pytest.raises(BackfillError, match="more than 200000 files"):
        plan_backfill(context, ever)
