"""A slow mirror costs a scan little time, and the next mirror is used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from gribmill.catalogue.events import parse_event
from gribmill.ingest import available_hours
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.deadline import Timeouts
from gribmill.pipeline.context import Context
from gribmill.pipeline.handlers.scan_source import Scan
from gribmill.pipeline.job_types import SCAN_SOURCE
from gribmill.queue.model import Snoozed
from tests.ingest.conftest import hrrr_at, publish
from tests.ingest.server import Publisher, serving
from tests.ingest.small_grib import RUN, usual_file

pytestmark = pytest.mark.slow

RUNS = [RUN, RUN - timedelta(hours=1), RUN - timedelta(hours=2)]


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    """The first mirror drips, the second one has the newest run."""
    with serving() as one:
        publish(one, usual_file(), ("aws", "gcs"))
        one.fault("drip head", match="aws/")
        yield one


def _scan(context: Context, publisher: Publisher) -> Snoozed:
    scan = Scan(context, hrrr_at(publisher, ("aws", "gcs")), RUN + timedelta(hours=2))
    for run in RUNS:
        scan.look_at(run)
    outcome = scan.outcome()
    assert isinstance(outcome, Snoozed)
    return outcome


def _assert_second_mirror_helped(context: Context, publisher: Publisher, outcome: Snoozed) -> None:
    context.catalogue.record(parse_event(effect.kind, effect.payload) for effect in outcome.also)
    mirrors = context.catalogue.mirrors()
    assert (mirrors["aws-hrrr"].failures, mirrors["gcs-hrrr"].failures) == (1, 0)
    assert "too slow" in mirrors["aws-hrrr"].last_reason
    assert outcome.reason.count("too slow") == 1
    assert (len(publisher.asked("aws/")), len(publisher.asked("gcs/"))) == (1, len(RUNS))


def test_failing_mirror_is_skipped_for_the_other_runs(context: Context, publisher: Publisher) -> None:
    with SourceSession(timeouts=Timeouts(page=4.0)) as context.__dict__["session"]:
        outcome = _scan(context, publisher)
    assert [job.args["hour"] for job in outcome.then] == [1]
    _assert_second_mirror_helped(context, publisher, outcome)


def test_mirror_may_not_use_up_the_time_of_the_scan(
    context: Context, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(available_hours, "ASKING_SECONDS", 16.0)
    outcome = _scan(context, publisher)
    assert [job.args["hour"] for job in outcome.then] == [1]
    _assert_second_mirror_helped(context, publisher, outcome)


def test_requests_of_a_scan_end_before_its_job_times_out() -> None:
    assert SCAN_SOURCE.timeout_seconds - 60 > available_hours.ASKING_SECONDS
