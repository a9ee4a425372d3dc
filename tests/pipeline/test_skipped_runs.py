"""Runs that came and went while no worker ran are recorded as given up."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import parse_event
from gribmill.identity import run_id
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.scan_source import Scan
from gribmill.queue.model import Succeeded
from tests.pipeline.conftest import Scribe

NOW = datetime(2026, 11, 1, 13, 50, tzinfo=UTC)


def scan(context: Context, now: datetime) -> list[str]:
    """The runs that a scan examines. Applies what it records without contacting a mirror."""
    scan = Scan(context, context.models["hrrr"], now)
    looked_at = [run_id(run) for run in scan.runs(None)]
    outcome = scan.outcome()
    assert isinstance(outcome, Succeeded)
    context.catalogue.record(parse_event(effect.kind, effect.payload) for effect in outcome.also)
    return looked_at


def states(context: Context) -> dict[str, str]:
    return {record.run_id: record.state for record in context.catalogue.runs("hrrr")}


def test_runs_that_no_scan_saw_are_given_up_once(context: Context, scribe: Scribe) -> None:
    scribe.run("20261101_08", [0])
    scribe.hour("20261101_08", 0, ["ne"])
    scribe.tile("20261101_08", 0, "ne")
    looked_at = scan(context, NOW)
    skipped = ["20261101_10", "20261101_09"]
    assert not {*looked_at} & {*skipped}
    assert {run: state for run, state in states(context).items() if state == "given_up"} == dict.fromkeys(
        skipped, "given_up"
    )
    before = states(context)
    scan(context, NOW + timedelta(minutes=1))
    assert states(context) == before


def test_nothing_is_given_up_before_the_first_scan(context: Context) -> None:
    scan(context, NOW)
    assert states(context) == {}


def test_runs_within_runs_back_are_scanned(context: Context, scribe: Scribe) -> None:
    chain = context.settings.chain.model_copy(update={"runs_back": 10})
    patient = dataclasses.replace(context, settings=context.settings.model_copy(update={"chain": chain}))
    scribe.run("20261101_08", [0])
    assert {"20261101_09", "20261101_10", "20261101_11"} <= {*scan(patient, NOW)}
    assert "given_up" not in states(patient).values()


def test_run_that_its_model_no_longer_has_is_given_up(context: Context, scribe: Scribe) -> None:
    scribe.run("20261101_07", range(19))
    hrrr = context.models["hrrr"]
    ended = dataclasses.replace(hrrr, ends=datetime(2026, 10, 1, tzinfo=UTC))
    assert scan(dataclasses.replace(context, models={"hrrr": ended}), NOW) == []
    assert states(context)["20261101_07"] == "given_up"
