"""`gribmill direct`: one job in the foreground, under a reservation, recorded like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from gribmill.queue.model import Claimed, ClaimRequest, NewJob
from gribmill.queue.store import Store, reservations
from gribmill.queue.worker.direct import DirectRun
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden
from tests.cli.job_driver import add, by_hand, take
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

EXPIRE_RESERVATIONS = "UPDATE direct_reservations SET expires_at = '2026-01-01 00:00:00.000'"


def test_job_runs_at_once_with_live_output_and_is_recorded(gribmill: Run, store: Store) -> None:
    waiting = add(store, priority=9)
    answer = gribmill("direct", "sleep", '{"say": "hello"}')
    assert (answer.code, answer.out) == (0, "hello\n")
    assert "succeeded" in answer.err
    job = store.jobs.history(2)
    assert (job.job.status, job.job.max_attempts) == ("completed", 1)
    (attempt,) = job.attempts
    assert (attempt.status, attempt.exit_code, attempt.pid, attempt.stdout_tail) == (
        "succeeded",
        0,
        os.getpid(),
        "hello\n",
    )
    assert store.jobs.get(waiting).status == "pending"
    assert store.reservations.list() == []
    assert store.verify() == []


def test_exit_code_is_that_of_the_job(gribmill: Run, store: Store) -> None:
    answer = gribmill("direct", "sleep", '{"fail": "always"}')
    assert answer.code == 1 and "failed: RuntimeError: asked to fail" in answer.err
    assert store.jobs.get(1).status == "failed"
    assert store.reservations.list() == []


def test_json_is_the_attempt_and_job_output_goes_to_stderr(gribmill: Run) -> None:
    answer = gribmill("direct", "sleep", "-", "--json", stdin='{"say": "hello"}')
    assert answer.err == "hello\n"
    check_golden("direct", answer.out)


def test_job_that_takes_too_long_is_stopped(gribmill: Run, store: Store) -> None:
    answer = gribmill("direct", "sleep", '{"seconds": 30}', "--timeout", "1s")
    assert answer.code == 1 and "timed out after 1 s" in answer.err
    (attempt,) = store.jobs.history(1).attempts
    assert attempt.status == "timeout"


def test_other_reservation_is_named_and_waited_for(gribmill: Run, store: Store) -> None:
    held = store.reservations.reserve("alice", 60, "sleep")
    answer = gribmill("direct", "sleep")
    assert answer.code == 1 and "sleep is reserved by alice until" in answer.err
    assert store.jobs.list().jobs == ()
    store.reservations.extend(held.id, 0.5)
    assert gribmill("direct", "sleep", "--wait", "20s").code == 0


def test_paused_type_and_equal_job_are_refused_without_a_trace(gribmill: Run, store: Store) -> None:
    store.types.pause("sleep")
    answer = gribmill("direct", "sleep")
    assert answer.code == 1 and "cannot start now: type is paused" in answer.err
    assert store.jobs.list().jobs == () and store.reservations.list() == []
    scan = NewJob("scan_source", {"model_id": "hrrr"})
    made = store.jobs.enqueue(scan)
    answer = gribmill("direct", "scan_source", '{"model_id": "hrrr"}')
    assert answer.code == 1 and f"an equal job, {made.id}, is active already" in answer.err


@pytest.mark.parametrize("words", [("sleep", '{"seconds": "x"}'), ("nonsense",), ("sleep", "[1]"), ("sleep", "{")])
def test_bad_input_is_refused_and_reserves_nothing(gribmill: Run, store: Store, words: tuple[str, ...]) -> None:
    answer = gribmill("direct", *words)
    assert answer.code == 1 and answer.err.startswith("error: ")
    assert store.reservations.list() == []


def test_tick_runs_under_its_own_reservation(gribmill: Run, store: Store) -> None:
    add(store)
    held = store.reservations.reserve("me", 60)
    assert gribmill("tick").out == "no job is ready\n"
    assert gribmill("tick", "--reservation", held.id, "--json").json[0]["outcome"] == "succeeded"
    assert gribmill("tick", "--reservation", "gone").code == 1
    assert store.verify() == []


def test_reserve_waits_for_the_other_holder(
    gribmill: Run, store: Store, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.reservations.reserve("alice", 600.0)
    assert gribmill("jobs", "reserve").code == 1
    waits: list[float] = []

    def expire_during_the_second_wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            by_hand(data, EXPIRE_RESERVATIONS)

    clock = SimpleNamespace(monotonic=time.monotonic, sleep=expire_during_the_second_wait)
    monkeypatch.setattr(reservations, "time", clock)
    assert gribmill("jobs", "reserve", "--wait", "1h").code == 0
    assert len(waits) == 2


def test_setting_allows_only_one_reservation(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_QUEUE_RESERVATIONS", "one")
    assert gribmill("jobs", "reserve", "--type", "sleep", "--by", "alice").code == 0
    for words in (("jobs", "reserve", "--type", "prune"), ("jobs", "reserve"), ("direct", "prune")):
        answer = gribmill(*words)
        assert answer.code == 1 and "sleep is reserved by alice" in answer.err


def _start(data: Path, *words: str) -> subprocess.Popen[str]:
    return _start_command(data, "direct", "sleep", *words)


def _start_command(data: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gribmill.cli.main", "--data", str(data), *words]
    environment = {**os.environ, "GRIBMILL_QUEUE_LEASE_SECONDS": "9"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _until_running(store: Store) -> None:
    wait_until(store.attempts.running, what="the job to run")


@pytest.mark.process
def test_killed_direct_run_expires_with_its_lease_and_its_reservation(data: Path, store: Store) -> None:
    process = _start(data, '{"seconds": 60}', "--max-attempts", "2")
    _until_running(store)
    waiting = add(store)

    def expiry() -> tuple[datetime | None, datetime | None]:
        (reservation,) = store.reservations.list()
        return store.jobs.get(1).lease_expires_at, reservation.expires_at

    before = expiry()
    wait_until(lambda: all(now and then and now > then for now, then in zip(expiry(), before, strict=True)))
    assert store.claim(ClaimRequest("w1", ("sleep",), 60.0)) == ()
    process.kill()
    process.communicate()
    by_hand(data, EXPIRE_RESERVATIONS)
    by_hand(data, "UPDATE jobs SET lease_expires_at = '2026-01-01 00:00:00.000' WHERE id = 1")
    batch = store.claim(ClaimRequest("w1", ("sleep",), 60.0))
    assert [job.id for job in batch] == [waiting]
    assert store.maintenance.recover().requeued == (1,)
    assert [one.status for one in store.jobs.history(1).attempts] == ["lost"]
    assert store.verify() == []


@pytest.mark.process
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_direct_run_cancels_its_job_and_releases(data: Path, store: Store, how: signal.Signals) -> None:
    process = _start(data, '{"seconds": 60}')
    _until_running(store)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted\n")
    assert store.jobs.get(1).status == "cancelled"
    assert store.reservations.list() == []


@pytest.mark.process
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_tick_gives_its_job_back(data: Path, store: Store, how: signal.Signals) -> None:
    job_id = store.jobs.enqueue(NewJob("sleep", {"seconds": 60})).id
    process = _start_command(data, "tick")
    _until_running(store)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted\n")
    job = store.jobs.get(job_id)
    assert (job.status, job.retry_count) == ("pending", 0)


def test_interrupt_between_claim_and_start_cancels_the_job(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = store.claim_new

    def interrupted(request: ClaimRequest, job: NewJob) -> Claimed:
        claim(request, job)
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "claim_new", interrupted)
    with pytest.raises(KeyboardInterrupt):
        DirectRun(store, 60.0).run(NewJob("sleep", {"seconds": 60}), "a test")
    assert store.jobs.get(1).status == "cancelled"
    assert store.reservations.list() == []


@pytest.mark.process
def test_cancelled_direct_run_ends(data: Path, store: Store) -> None:
    process = _start(data, '{"seconds": 60}')
    _until_running(store)
    assert store.jobs.cancel(1) == "requested"
    process.communicate(timeout=60)
    assert store.jobs.get(1).status == "cancelled"


def test_direct_run_waits_for_the_limit_of_its_type(gribmill: Run, store: Store) -> None:
    store.definitions.edit("sleep", {"max_running": 1})
    add(store)
    take(store)
    answer = gribmill("direct", "sleep")
    assert answer.code == 1 and "limit: 1 of this type at once" in answer.err
