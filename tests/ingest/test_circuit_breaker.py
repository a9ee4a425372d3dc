"""The circuit breaker: one failure changes nothing, three in a row open it, a success closes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gribmill.ingest.http.errors import Broken, NotThere, RateLimited, Untrusted
from gribmill.ingest.mirrors.circuit_breaker import (
    LONGEST_PAUSE,
    MirrorHealth,
    Observation,
    observation_of,
    order_mirrors,
    updated_health,
)
from gribmill.ingest.mirrors.mirror import Mirror, SourceUrls, hosts

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
BROKEN = Broken("u", "returned 500")


def _after(*errors: Exception | None, start: MirrorHealth | None = None, now: datetime = NOW) -> MirrorHealth:
    health = start or MirrorHealth("aws")
    for error in errors:
        health = updated_health(health, observation_of("aws", error, now))
    return health


def test_one_or_two_failures_change_nothing() -> None:
    assert _after(BROKEN).state(NOW) == "closed"
    assert _after(BROKEN, Untrusted("u", "html")).state(NOW) == "closed"


def test_three_failures_in_a_row_are_an_outage_and_its_pause_doubles() -> None:
    health = _after(BROKEN, BROKEN, BROKEN)
    assert health.state(NOW) == "open"
    assert health.open_until == NOW + timedelta(seconds=30)
    assert health.last_reason == "u: returned 500"
    later = NOW + timedelta(seconds=31)
    assert health.state(later) == "half_open"
    again = _after(BROKEN, start=health, now=later)
    assert again.open_until == later + timedelta(seconds=60)
    assert _after(None, start=again, now=later).state(later) == "closed"
    assert _after(None, start=again, now=later).failures == 0


def test_a_file_not_published_yet_is_not_a_failure() -> None:
    assert _after(BROKEN, BROKEN, NotThere("u", "404"), BROKEN).state(NOW) == "closed"


def test_a_host_that_asks_for_a_pause_gets_it_at_once() -> None:
    assert _after(RateLimited("u", "slow", 90.0)).open_until == NOW + timedelta(seconds=90)


@given(st.lists(st.booleans(), max_size=30))
def test_the_pause_is_bounded_and_a_success_ends_it(outcomes: list[bool]) -> None:
    health = _after(*[None if ok else BROKEN for ok in outcomes])
    in_a_row = next((at for at, ok in enumerate(reversed(outcomes)) if ok), len(outcomes))
    assert health.failures == in_a_row
    assert (health.state(NOW) == "open") == (in_a_row >= 3)
    assert health.open_until is None or health.open_until <= NOW + LONGEST_PAUSE


def test_an_old_success_that_is_reported_late_does_not_end_a_pause() -> None:
    health = _after(BROKEN, BROKEN, BROKEN)
    assert updated_health(health, Observation("aws", NOW - timedelta(minutes=1), ok=True)).state(NOW) == "open"


def test_failing_mirrors_come_last_in_the_order_of_their_recovery() -> None:
    urls = [
        SourceUrls(Mirror(name, f"http://{name}/", hosts()["other"]), f"http://{name}/k", None, "none")
        for name in "abcd"
    ]
    health = {
        "a": MirrorHealth("a", 4, NOW + timedelta(minutes=9)),
        "b": MirrorHealth("b", 3, NOW + timedelta(minutes=1)),
        "c": MirrorHealth("c", 3, NOW - timedelta(minutes=1)),
    }
    assert [source.mirror.name for source in order_mirrors(urls, health, NOW)] == ["c", "d", "b", "a"]
