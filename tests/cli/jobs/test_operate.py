"""Retry, cancel, move, pause, reserve, prune: what an operator does."""

from __future__ import annotations

from pathlib import Path

import pytest

from gribmill.queue.model import ClaimRequest, Failed, Stopped, Succeeded
from gribmill.queue.model import Report as AttemptReport
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.job_driver import add, end, rewrite_ended, take


def test_retry_reports_on_each_and_fails_when_one_is_refused(gribmill: Run, store: Store) -> None:
    done = add(store)
    end(store, Succeeded())
    pending = add(store)
    answer = gribmill("jobs", "retry", str(done), str(pending), "99")
    assert answer.code == 1
    assert answer.out == f"job {done} runs again as job 3\n"
    assert answer.err.splitlines() == [
        f"error: job {pending} is pending: only a finished job can be retried",
        "error: there is no job 99; it may have been pruned",
    ]
    assert store.jobs.get(3).retry_of == done
    assert gribmill("jobs", "retry", str(done)).code == 0


def test_retry_in_json_lists_new_ids_and_refusals(gribmill: Run, store: Store) -> None:
    end_id = add(store)
    end(store, Failed("x", permanent=True))
    answer = gribmill("jobs", "retry", f"{end_id},99", "--json")
    assert answer.code == 1
    good, bad = answer.json
    assert good == {"id": end_id, "ok": True, "new_id": 2, "created": True}
    assert (bad["id"], bad["ok"]) == (99, False) and "no job 99" in bad["error"]


def test_retry_never_duplicates_an_active_equal_job(gribmill: Run, store: Store) -> None:
    old = add(store, dedupe_key="k")
    end(store, Succeeded())
    new = add(store, dedupe_key="k")
    assert f"an equal job, {new}, is active already" in gribmill("jobs", "retry", str(old)).out


def test_cancel_ends_pending_jobs_and_asks_running_ones(gribmill: Run, store: Store) -> None:
    running = add(store)
    job = take(store)
    pending = add(store)
    answer = gribmill("jobs", "cancel", str(running), str(pending), "--reason", "seen enough")
    assert answer.code == 0
    assert "has been asked to stop" in answer.out and f"job {pending} is cancelled" in answer.out
    store.exchange("w1", [AttemptReport(job.ref, Stopped())])
    for job_id in (running, pending):
        assert store.jobs.get(job_id).status == "cancelled"
        assert str(store.jobs.get(job_id).error_message).endswith(": seen enough")
    answer = gribmill("jobs", "cancel", str(pending))
    assert answer.code == 1 and "has ended already" in answer.err


def test_same_id_twice_is_one_job(gribmill: Run, store: Store) -> None:
    answer = gribmill("jobs", "cancel", str(add(store)), "1,1")
    assert (answer.code, answer.out) == (0, "job 1 is cancelled\n")


@pytest.mark.parametrize("words", [[], ["x"], ["0"], ["-1"], [str(2**63)], ["1,two"]], ids=str)
def test_an_invalid_id_is_a_usage_error(gribmill: Run, words: list[str]) -> None:
    assert gribmill("jobs", "cancel", *words).code == 2
    assert gribmill("jobs", "retry", *words).code == 2


def queue(store: Store) -> list[int]:
    return [job.id for job in store.jobs.upcoming()]


def test_move_changes_the_order(gribmill: Run, store: Store) -> None:
    for _ in range(4):
        add(store)
    for words, order in (
        (["4", "--front"], [4, 1, 2, 3]),
        (["1", "--back"], [4, 2, 3, 1]),
        (["3", "--before", "2"], [4, 3, 2, 1]),
        (["2", "--priority", "1"], [2, 4, 3, 1]),
        (["--normalize", "0"], [2, 4, 3, 1]),
    ):
        answer = gribmill("jobs", "move", *words)
        assert answer.code == 0 and answer.out
        assert queue(store) == order


def test_move_now_ends_a_delay(gribmill: Run, store: Store) -> None:
    job_id = add(store, delay_seconds=600)
    assert gribmill("jobs", "move", str(job_id), "--now").code == 0
    assert store.jobs.get(job_id).next_run_at is None


@pytest.mark.parametrize(
    "words",
    [[], ["1"], ["--front"], ["1", "--front", "--back"], ["1", "--normalize", "0"], ["1", "--priority", "x"]],
    ids=str,
)
def test_unclear_moves_are_usage_errors(gribmill: Run, store: Store, words: list[str]) -> None:
    add(store)
    assert gribmill("jobs", "move", *words).code == 2


def test_only_pending_jobs_can_be_moved(gribmill: Run, store: Store) -> None:
    job_id = add(store)
    take(store)
    for words in (["--front"], ["--now"], ["--priority", "3"]):
        answer = gribmill("jobs", "move", str(job_id), *words)
        assert answer.code == 1 and "is processing" in answer.err
    assert "cannot go ahead of itself" in gribmill("jobs", "move", "1", "--before", "1").err


def test_paused_type_starts_nothing_until_resumed(gribmill: Run, store: Store) -> None:
    add(store)
    assert "is paused" in gribmill("jobs", "pause", "sleep").out
    assert gribmill("tick").out == "no job is ready\n"
    assert gribmill("jobs", "resume", "sleep").code == 0
    assert gribmill("tick", "--json").json[0]["outcome"] == "succeeded"
    answer = gribmill("jobs", "pause", "sleep", "slep")
    assert answer.code == 1 and "no job type 'slep'" in answer.err
    assert not store.types.paused()


def test_reservation_holds_jobs_back_until_released(gribmill: Run, store: Store) -> None:
    add(store)
    held = gribmill("jobs", "reserve", "--for", "5m", "--by", "me", "--json").json
    assert (held["scope"], held["reserved_by"]) == ("*", "me")
    assert gribmill("tick").out == "no job is ready\n"
    answer = gribmill("jobs", "reserve")
    assert answer.code == 1 and "reserved by me" in answer.err
    assert [one["id"] for one in gribmill("jobs", "reservations", "--json").json] == [held["id"]]
    later = gribmill("jobs", "reserve", "--extend", held["id"], "--for", "1h", "--json").json
    assert later["expires_at"] > held["expires_at"]
    assert gribmill("jobs", "release", held["id"]).code == 0
    assert gribmill("jobs", "release", held["id"]).code == 1
    assert gribmill("tick", "--json").json[0]["outcome"] == "succeeded"


def test_reservation_of_one_type_holds_back_only_that(gribmill: Run, store: Store) -> None:
    assert gribmill("jobs", "reserve", "--type", "build_tile").code == 0
    add(store)
    assert store.claim(ClaimRequest("w1", ("sleep",), 60.0))
    assert gribmill("jobs", "reserve", "--type", "slep").code == 1
    assert gribmill("jobs", "reserve", "--for", "2w").code == 1
    assert gribmill("jobs", "reserve", "--extend", "x", "--by", "me").code == 2


def test_prune_counts_first_and_removes_then(gribmill: Run, store: Store, data: Path) -> None:
    add(store)
    end(store, Succeeded())
    add(store)
    end(store, Failed("x", permanent=True))
    rewrite_ended(data, "UPDATE jobs SET completed_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-10 days')")
    assert gribmill("jobs", "prune", "--dry-run", "--json").json == {
        "completed": 1,
        "failed": 0,
        "dry_run": True,
        "logs": 0,
    }
    assert len(store.jobs.list().jobs) == 2
    assert gribmill("jobs", "prune", "--json").json == {"completed": 1, "failed": 0, "dry_run": False, "logs": 0}
    assert [job.status for job in store.jobs.list().jobs] == ["failed"]
    assert gribmill("jobs", "prune", "--failed-days", "9").code == 0
    assert store.jobs.list().jobs == ()
    assert gribmill("jobs", "prune", "--failed-days", "-1").code == 2


@pytest.mark.parametrize("words", [("work", "--drain"), ("run", "--model", "hrrr", "--region", "ne")])
def test_misspelt_lane_of_the_settings_is_refused(
    gribmill: Run, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its jobs would wait forever without a message."""
    monkeypatch.setenv("GRIBMILL_WORKERS_LANES", "{fetch = 1, biuld = 1}")
    answer = gribmill(*words)
    assert answer.code == 1
    assert answer.err.endswith("error: there is no lane biuld; the lanes are: fetch, build, command\n")
