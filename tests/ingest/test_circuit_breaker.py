"""The circuit breaker: one failure changes nothing, three in a row open it, a success closes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from gribmill.ingest.errors import Broken, NotThere, RateLimited, Untrusted
from gribmill.ingest.mirror import (
    LONGEST_PAUSE,
    TRIAL_EVERY,
    Mirror,
    MirrorHealth,
    Observation,
    SourceUrls,
    choose_mirrors,
    hosts,
    observation_of,
    order_mirrors,
    updated_health,
)

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


def _urls(names: str) -> list[SourceUrls]:
    return [
        SourceUrls(Mirror(name, f"http://{name}/", hosts()["other"]), f"http://{name}/k", None, "none")
        for name in names
    ]


def test_failing_mirrors_come_last_in_the_order_of_their_recovery() -> None:
    urls = _urls("abcd")
    health = {
        "a": MirrorHealth("a", 4, NOW + timedelta(minutes=9)),
        "b": MirrorHealth("b", 3, NOW + timedelta(minutes=1)),
        "c": MirrorHealth("c", 3, NOW - timedelta(minutes=1)),
    }
    assert [source.mirror.name for source in order_mirrors(urls, health, NOW)] == ["c", "d", "b", "a"]


def test_open_mirrors_are_skipped_while_another_is_closed() -> None:
    health = {"a": MirrorHealth("a", 9, NOW + timedelta(minutes=20), last_failure=NOW)}
    choice = choose_mirrors(_urls("ab"), health, NOW + timedelta(minutes=5))
    assert [one.mirror.name for one in choice.usable] == ["b"]
    assert [(one.mirror.name, until) for one, until in choice.left_alone] == [("a", NOW + timedelta(minutes=20))]
    assert not choice.trial


def test_if_all_mirrors_are_open_they_are_tried_every_half_minute_the_first_to_close_first() -> None:
    health = {
        "a": MirrorHealth("a", 9, NOW + timedelta(minutes=20), last_failure=NOW),
        "b": MirrorHealth("b", 9, NOW + timedelta(minutes=10), last_failure=NOW),
    }
    at_once = choose_mirrors(_urls("ab"), health, NOW + timedelta(seconds=1))
    assert not at_once.usable
    assert {until for _, until in at_once.left_alone} == {NOW + TRIAL_EVERY}
    later = choose_mirrors(_urls("ab"), health, NOW + TRIAL_EVERY)
    assert [one.mirror.name for one in later.usable] == ["b", "a"]
    assert later.trial


def test_requested_pause_is_kept_even_without_another_mirror() -> None:
    health = {"a": _after(BROKEN, BROKEN, RateLimited("u", "slow", 600.0))}
    early = choose_mirrors(_urls("a"), health, NOW + timedelta(seconds=599))
    assert not early.usable
    assert early.left_alone[0][1] == NOW + timedelta(seconds=600)
    assert choose_mirrors(_urls("a"), health, NOW + timedelta(seconds=600)).usable


def test_success_ends_the_requested_pause() -> None:
    assert _after(RateLimited("u", "slow", 600.0), None).asked_until is None
