"""An outage is logged once when it begins and once when it ends, and scans keep trying."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from gribmill.catalogue.events import RunSeen, parse_event
from gribmill.identity import RunRef, run_id
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.scan_source import Scan
from gribmill.queue.model import Snoozed
from tests.ingest.conftest import hrrr_at, publish
from tests.ingest.server import Publisher, serving
from tests.ingest.small_grib import RUN, usual_file

START = RUN + timedelta(hours=2)


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with serving() as one:
        publish(one, usual_file(), ("aws", "gcs"))
        yield one


def scan(context: Context, model: Model, now: datetime) -> Snoozed:
    one = Scan(context, model, now)
    for run in (RUN, RUN - timedelta(hours=1)):
        one.look_at(run)
    outcome = one.outcome()
    assert isinstance(outcome, Snoozed)
    context.catalogue.record(parse_event(effect.kind, effect.payload) for effect in outcome.also)
    return outcome


def test_an_outage_is_one_short_warning_and_its_end_one_line(
    context: Context, publisher: Publisher, caplog: pytest.LogCaptureFixture
) -> None:
    model = hrrr_at(publisher, ("aws", "gcs"))
    caplog.set_level(logging.INFO, "gribmill.scan")
    fault = publisher.fault("status", value=500)
    for minutes in range(5):
        outcome = scan(context, model, START + timedelta(minutes=minutes))
        assert outcome.seconds <= 60, "the end of an outage is noticed soon"
        assert len(outcome.reason) <= 200
        assert outcome.reason.count("aws-hrrr") == 1
        assert "http:" not in outcome.reason
    (line,) = caplog.records
    assert line.levelname == "WARNING"
    assert line.getMessage().startswith("hrrr: no mirror answers; aws-hrrr, gcs-hrrr: returned 500")
    assert len(line.getMessage()) <= 200
    publisher.faults.remove(fault)
    caplog.clear()
    for minutes in (6, 7):
        scan(context, model, START + timedelta(minutes=minutes))
    (line,) = caplog.records
    assert line.levelname == "INFO"
    assert "hrrr: a mirror answers again" in line.getMessage()


def test_paused_mirrors_are_tried_when_no_other_is_left(context: Context, publisher: Publisher) -> None:
    model = hrrr_at(publisher, ("aws", "gcs"))
    fault = publisher.fault("status", value=500)
    for minutes in range(8):
        scan(context, model, START + timedelta(minutes=minutes))
    assert {one.state(START + timedelta(minutes=8)) for one in context.catalogue.mirrors().values()} == {"open"}
    publisher.faults.remove(fault)
    outcome = scan(context, model, START + timedelta(minutes=8))
    assert [job.args["hour"] for job in outcome.then] == [1]


def test_runs_seen_while_the_clock_was_ahead_are_forgotten_unless_they_have_files(context: Context) -> None:
    later = RUN + timedelta(hours=9)
    context.catalogue.record([RunSeen(RunRef("hrrr", run_id(moment)), (0, 1)) for moment in (RUN, later)])
    one = Scan(context, context.models["hrrr"], START)
    assert later not in one.runs(None)
    assert [event.kind for event in one._events] == ["run_removed"]
