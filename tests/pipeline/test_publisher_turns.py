"""With PostgreSQL, a publisher's limit of requests per minute holds for all hosts together."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gribmill.database.postgres import PostgresDatabase
from gribmill.ingest.errors import RateLimited
from gribmill.ingest.http.rate_limit import RateLimit, SharedRateLimit
from gribmill.ingest.mirror import hosts
from gribmill.pipeline.publisher_turns import DatabaseTurns, rate_limit
from gribmill.settings.schema import Settings
from tests.queue.backends import new_address

pytestmark = pytest.mark.postgres

NOMADS = hosts()["nomads"]
START = 1_800_000_000.0


class Time:
    """A common time; each host's clock starts from a different moment."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class HostUnderTest:
    """A host with its own clock, and the times of its requests."""

    def __init__(self, folder: Path, turns: DatabaseTurns, time: Time, offset: float) -> None:
        self.time, self.offset = time, offset
        self.asked = 0
        self.limit = SharedRateLimit(folder, self, clock=lambda: time.now + offset, sleep=lambda seconds: None)
        self._turns = turns

    def take(self, host: str, count: int, interval: float, late: float, longest_wait: float):  # type: ignore[no-untyped-def]
        self.asked += 1
        return self._turns.take(host, count, interval, late, longest_wait)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def turns(tmp_path: Path, time: Time) -> Iterator[DatabaseTurns]:
    with new_address("postgres", tmp_path) as url:
        database = PostgresDatabase(url, clock=time)
        yield DatabaseTurns(lambda: database)


def pair(tmp_path: Path, turns: DatabaseTurns, time: Time) -> list[HostUnderTest]:
    """Their clocks differ by weeks."""
    return [HostUnderTest(tmp_path / f"host{n}", turns, time, offset) for n, offset in enumerate((-1.7e9, -1.799e9))]


@pytest.mark.parametrize("per_minute", [1, 7, 60, 100, 200])
def test_limit_holds_for_all_hosts_together_in_any_sixty_seconds(
    tmp_path: Path, turns: DatabaseTurns, time: Time, per_minute: int
) -> None:
    dice, host = random.Random(per_minute), replace(NOMADS, requests_per_minute=per_minute)
    crew = pair(tmp_path, turns, time)
    sent = []
    for _ in range(4 * per_minute + 40):
        wait = dice.choice(crew).limit.take(host, "u", 1e5)
        sent.append(time.now + wait)
        time.now += dice.choice([0.0, 0.0, 0.05, 0.3, 2.0 if per_minute > 7 else 20.0])
    sent.sort()
    most = max(per_minute, 2)
    for first, later in zip(sent, sent[most:], strict=False):
        assert later - first >= 60 - 0.01, "times in the database are milliseconds"


def test_busy_host_asks_the_database_once_for_several_turns(tmp_path: Path, turns: DatabaseTurns, time: Time) -> None:
    one, _ = pair(tmp_path, turns, time)
    for _ in range(200):
        time.now += one.limit.take(NOMADS, "u", 20.0)
    assert one.asked < 60


def test_unused_turns_of_a_host_are_not_saved_up(tmp_path: Path, turns: DatabaseTurns, time: Time) -> None:
    one, _ = pair(tmp_path, turns, time)
    for _ in range(50):
        time.now += one.limit.take(NOMADS, "u", 20.0)
    time.now += 3600
    waits = [one.limit.take(NOMADS, "u", 20.0) for _ in range(15)]
    assert sum(wait == 0 for wait in waits) <= 10, "a tenth of the limit may come at once"
    assert waits[-1] > 0


def test_wait_that_is_too_long_is_refused_with_its_length(tmp_path: Path, turns: DatabaseTurns, time: Time) -> None:
    one, other = pair(tmp_path, turns, time)
    with pytest.raises(RateLimited, match="nomads allows 100 requests a minute; the next turn is in"):
        for _ in range(100):
            one.limit.take(NOMADS, "u", 5.0)
    with pytest.raises(RateLimited) as refusal:
        other.limit.take(NOMADS, "u", 1.0)
    assert 1 < refusal.value.retry_after_seconds < 60


def test_download_waits_while_the_database_is_unavailable(tmp_path: Path) -> None:
    settings = Settings.model_validate({"data": tmp_path, "database": "postgresql://postgres@127.0.0.1:1/none"})
    with pytest.raises(RateLimited, match="is kept in the database, which cannot be used") as refusal:
        rate_limit(settings).take(NOMADS, "u", 20.0)
    assert refusal.value.retry_after_seconds == 5.0


def test_without_postgresql_the_limit_is_kept_in_the_data_root(tmp_path: Path) -> None:
    limit = rate_limit(Settings.model_validate({"data": tmp_path}))
    assert type(limit) is RateLimit
    limit.take(NOMADS, "u", 20.0)
    assert (tmp_path / ".rates" / "nomads.rate").exists()
