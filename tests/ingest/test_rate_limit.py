"""The limit of requests per minute holds for all processes of a machine, even if they die."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gribmill.ingest.errors import RateLimited
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.http.rate_limit import RateLimit
from gribmill.ingest.mirror import Host, hosts
from tests.ingest.server import Publisher

NOMADS = hosts()["nomads"]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def _limit(folder: Path, clock: Clock) -> RateLimit:
    return RateLimit(folder, clock=clock, sleep=clock.sleep)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    pauses=st.lists(st.sampled_from([0.0, 0.1, 0.6, 1.0, 5.0, 30.0]), min_size=250, max_size=400),
    per=st.integers(1, 200),
)
def test_limit_holds_in_any_sixty_seconds(
    tmp_path_factory: pytest.TempPathFactory, pauses: list[float], per: int
) -> None:
    clock, host = Clock(), replace(NOMADS, requests_per_minute=per)
    limit = _limit(tmp_path_factory.mktemp("rate"), clock)
    turns = []
    for pause in pauses:
        limit.take(host, "u", 1e9)
        turns.append(clock.now)
        clock.now += pause
    # A limit of one a minute needs a burst of one in addition to its pace.
    most = max(per, 2)
    for first, later in zip(turns, turns[most:], strict=False):
        assert later - first >= 60 - 1e-6


def test_a_turn_beyond_the_deadline_is_refused_at_once_and_not_taken(tmp_path: Path) -> None:
    clock = Clock()
    limit = _limit(tmp_path, clock)
    waits = [limit.take(NOMADS, "u", 0.0) for _ in range(10)]
    assert waits == [0.0] * 10
    for _ in range(3):
        with pytest.raises(RateLimited, match="100 requests a minute") as caught:
            limit.take(NOMADS, "u", 0.5)
        assert caught.value.retry_after_seconds == pytest.approx(60 / 90)
    assert clock.now == 1000.0
    assert limit.take(NOMADS, "u", 1.0) == pytest.approx(60 / 90)


def test_hosts_without_a_limit_never_wait(tmp_path: Path) -> None:
    assert _limit(tmp_path, Clock()).take(hosts()["aws"], "u", 0.0) == 0.0
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 8, b"\0\0\0\0\0\0\xf8\x7f", b"\0\0\0\0\0\0\xf0\x7f"])
def test_damaged_or_outdated_counts_do_not_block(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "nomads.rate").write_bytes(content)
    assert _limit(tmp_path, Clock()).take(NOMADS, "u", 0.0) == 0.0


def test_a_reboot_within_the_hour_does_not_wait_for_the_previous_clock(tmp_path: Path) -> None:
    before, after = Clock(), Clock()
    before.now = after.now + 1800
    _limit(tmp_path, before).take(NOMADS, "u", 20.0)
    assert _limit(tmp_path, after).take(NOMADS, "u", 20.0) == 0.0


def test_a_stopped_process_that_holds_the_count_does_not_block_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = _limit(tmp_path, Clock())
    limit.take(NOMADS, "u", 0.0)
    ticks = iter(range(1000))
    monkeypatch.setattr("gribmill.ingest.http.rate_limit.time.monotonic", lambda: float(next(ticks)))
    with (tmp_path / "nomads.rate").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(RateLimited, match="another process"):
            limit.take(NOMADS, "u", 3.0)


TAKER = """
import sys
from pathlib import Path
from gribmill.ingest.mirror import hosts
from gribmill.ingest.errors import RateLimited
from gribmill.ingest.http.rate_limit import RateLimit
limit = RateLimit(Path(sys.argv[1]), clock=lambda: 1000.0)
sys.stdin.read(1)
taken = 0
for _ in range(40):
    try:
        limit.take(hosts()["nomads"], "u", 5.0 if sys.argv[2] == "wait" else 0.0)
        taken += 1
        if sys.argv[2] == "die":
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
    except RateLimited:
        pass
print(taken)
"""


@pytest.mark.process
def test_processes_share_one_limit_and_one_that_dies_costs_only_its_turn(tmp_path: Path) -> None:
    ways = ["plain", "plain", "plain", "die"]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", TAKER, str(tmp_path), way], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for way in ways
    ]
    for child in children:
        assert child.stdin
        child.stdin.write("x")
        child.stdin.flush()
    taken = [int(child.communicate()[0] or 1) for child in children]
    died = children[-1].returncode == -9
    # The clock is frozen, so only a burst of ten is allowed; the last process may die without a turn.
    assert sum(taken[:3]) + (1 if died else taken[3]) == 10


def test_every_request_to_the_host_takes_a_turn(publisher: Publisher, tmp_path: Path) -> None:
    publisher.put("x", b"abc")
    clock = Clock()
    host: Host = replace(NOMADS, requests_per_minute=20)
    with SourceSession(rate=_limit(tmp_path, clock)) as session:
        for _ in range(40):
            session.get(f"{publisher.url}x", host, limit_bytes=10)
    assert clock.now - 1000.0 >= 60
