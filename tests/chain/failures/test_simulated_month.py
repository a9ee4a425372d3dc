"""A month without an operator: outages, dead workers, a wrong clock, DST changes, a full disk, two tenants."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gribmill.identity import RunRef
from tests.chain.failures.simulated_month import (
    BEGIN,
    DAYS,
    HOURLY,
    MODELS,
    REGIONS,
    STEP,
    TENANTS_BYTES,
    TENANTS_REGION,
    Month,
)
from tests.documented_events import undocumented

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ALL_REGIONS = (*REGIONS, *TENANTS_REGION)


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Month:
    """The month after its end."""
    with pytest.MonkeyPatch.context() as patch:
        month = Month(tmp_path_factory.mktemp("month"), patch)
        month.run()
        month.violations = month.store.verify()
    return month


def test_every_published_hour_has_its_tiles_or_its_run_was_given_up(month: Month) -> None:
    runs = {ref.run for ref in month.publisher.published}
    assert len(runs) > 700
    wanted = {ref.tile(region) for ref in month.publisher.published for region in ALL_REGIONS}
    missing = [tile for tile in wanted if tile not in month.built]
    given_up = {tuple(json.loads(payload).values()) for (payload,) in month.events("run.given_up", "payload")}
    assert sorted(str(tile) for tile in missing if (tile.model_id, tile.run_id) not in given_up) == []
    lost = Counter((RunRef(tile.model_id, tile.run_id).time - BEGIN).days for tile in missing)
    # The scan of a dead worker comes back an hour later, when its run is too old to be looked for.
    assert {day for day in lost if lost[day] > len(ALL_REGIONS)} == {12, 24}, "no worker; the host was off"
    assert {*lost} <= {10, 12, 17, 20, 23, 24}, "dead workers; the clock was ahead; the last run before the outage"


def test_no_tile_is_built_twice(month: Month) -> None:
    assert {str(tile): count for tile, count in month.built.items() if count > 1} == {}


def test_hour_that_is_never_published_is_given_up_with_a_record(month: Month) -> None:
    given_up = [json.loads(payload)["run_id"] for (payload,) in month.events("run.given_up", "payload")]
    for ref in month.publisher.never:
        assert given_up.count(ref.run_id) == 1


def test_schedules_fire_once_a_day_when_clocks_go_forward_and_back(month: Month) -> None:
    for trigger_id, zone in ((1, ZoneInfo("America/New_York")), (2, ZoneInfo("Australia/Sydney"))):
        rows = month.rows(f"SELECT fire_key FROM trigger_firings WHERE trigger_id = {trigger_id}")
        days = Counter(datetime.fromisoformat(key).astimezone(zone).date() for (key,) in rows)
        first, last = min(days), max(days)
        assert days == Counter(first + timedelta(days=number) for number in range((last - first).days + 1))
        assert len(days) >= DAYS - 1
    assert month.rows("SELECT count(*) FROM jobs WHERE type = 'sleep' AND source = 'schedule'") == month.rows(
        "SELECT count(*) FROM trigger_firings"
    )


def test_late_stale_and_recovered_are_published_in_turn(month: Month) -> None:
    turns: dict[tuple[str, str], list[str]] = {}
    for name, payload in month.events("model.%", "name, payload"):
        values = json.loads(payload)
        turns.setdefault((values["model_id"], values["region"]), []).append(name.removeprefix("model."))
    assert {*turns} == {(model, region) for model in MODELS for region in ALL_REGIONS}
    follows = {None: {"late", "stale"}, "late": {"stale", "recovered"}, "stale": {"recovered"}}
    for names in turns.values():
        for before, after in zip([None, *names], names, strict=False):
            assert after in follows.get(before, {"late", "stale"}), names
        assert names.count("stale") >= 4, "both mirrors down, no worker, a full disk, the host off"


def test_disk_never_fills_and_stays_within_its_budget(month: Month) -> None:
    assert month.least_free > 0
    assert len(month.events("disk.low", "id")) == 1
    budget = month.settings.chain.keep_gigabytes
    assert budget is not None
    # New runs arrive between two prunes, which are six hours apart.
    assert month.most_used < 1.3 * budget * 1e9
    assert len(month.context.catalogue.runs(HOURLY)) <= 30 + 8
    # The tenant's tiles have a separate budget.
    assert TENANTS_BYTES / 2 < month.most_used_by_tenant < 1.7 * TENANTS_BYTES


def test_no_tenant_waits_for_the_backlog_of_another(month: Month) -> None:
    rows = month.rows(
        "SELECT tenant_id, count(*), max(julianday(started_at) - julianday(created_at)) * 86400,"
        " sum(status = 'completed')"
        " FROM jobs WHERE type = 'sleep' GROUP BY tenant_id ORDER BY tenant_id"
    )
    assert [row[0] for row in rows] == ["acme", "beta"]
    assert len(month.overtaken) == 3 and max(month.overtaken) <= 1, "it takes its turn among 300"
    for _, count, longest_wait, completed in rows:
        assert count == completed
        # The host is off for a day; jobs that fall due meanwhile are made up at the start.
        assert longest_wait <= timedelta(hours=8).total_seconds() + STEP.total_seconds()


def test_jobs_of_dead_workers_run_again(month: Month) -> None:
    assert month.abandoned > 0
    assert month.rows("SELECT count(*) FROM job_attempts WHERE status = 'lost'") == [(month.abandoned,)]
    assert month.rows("SELECT count(*) FROM jobs WHERE status = 'processing'") == [(0,)]


def test_every_event_is_as_documented(month: Month) -> None:
    events = [(name, json.loads(payload)) for name, payload in month.events("%", "name, payload")]
    assert undocumented(events) == []
    assert {name for name, _ in events} >= {
        "run.seen", "hour.ingested", "hour.cut", "run.completed", "run.given_up", "model.late", "model.stale",
        "model.recovered", "mirror.sick", "mirror.well", "disk.low", "disk.freed", "job.recovered",
        "worker.lost",
    }  # fmt: skip


def test_invariants_hold_at_the_end(month: Month) -> None:
    assert month.violations == []
    assert BEGIN + timedelta(days=DAYS) - month.clock.now == STEP
