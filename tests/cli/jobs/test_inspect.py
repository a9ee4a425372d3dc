"""Statistics, types, workers, verify, backup: commands that only read."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest

from gribmill.queue.model import Failed, Succeeded
from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.job_driver import add, by_hand, end, rewrite_ended, take


def test_stats_show_depth_waits_run_times_and_failures(gribmill: Run, store: Store, data: Path) -> None:
    for n in range(4):
        add(store)
        end(store, Failed("x", permanent=True) if n == 0 else Succeeded())
    rewrite_ended(
        data, "UPDATE jobs SET started_at = '2020-01-01 00:00:00.000', completed_at = '2020-01-01 00:00:00.000'"
    )
    rewrite_ended(
        data,
        "UPDATE jobs SET started_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds'),"
        " completed_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-50 seconds') WHERE id IN (1, 2)",
    )
    add(store)
    add(store)
    take(store)
    found = {one["type"]: one for one in gribmill("jobs", "stats", "--json").json}
    sleep = found["sleep"]
    assert sleep["counts"] == {"pending": 1, "processing": 1, "completed": 3, "failed": 1}
    assert (sleep["finished"], sleep["failed"], sleep["failure_rate"]) == (2, 1, 0.5)
    assert sleep["run_p50"] == pytest.approx(10, abs=0.1)
    assert sleep["oldest_ready_seconds"] >= 0
    assert found["build_tile"]["counts"] == {}
    store.types.pause("sleep")
    depth, hour = gribmill("jobs", "stats").out.split("\n\n")
    (row,) = [line.split() for line in depth.splitlines() if line.startswith("sleep")]
    assert row[1:6] == ["1", "1", "3", "1", "0"] and row[-1] == "paused"
    assert hour.splitlines()[1].split()[:4] == ["sleep", "2", "1", "50.0%"]


def _heed_interrupts() -> None:
    """Restore interrupts: shells start background processes, including test runs, with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.process
def test_watch_continues_until_interrupted(data: Path) -> None:
    words = ["--data", str(data), "jobs", "stats", "--watch", "--every", "0.1", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gribmill", *words], stdout=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.stdout.close()
    assert all(isinstance(json.loads(line), list) for line in lines)


def test_types_are_listed_with_a_valid_schema_of_their_arguments(gribmill: Run, store: Store) -> None:
    found = {one["type"]: one for one in gribmill("jobs", "types", "--json").json}
    assert set(found) == {kind.key for kind in store.registry}
    for one in found.values():
        jsonschema.Draft202012Validator.check_schema(one["arg_schema"])
    tile = found["build_tile"]
    assert tile["arg_schema"]["required"] == ["model_id", "run_id", "hour", "region"]
    assert (tile["lane"], tile["batch_max"], tile["dedupe"]) == ("build", 64, True)
    text = gribmill("jobs", "types").out
    assert all(key in text for key in found)


def test_one_type_is_explained_argument_by_argument(gribmill: Run) -> None:
    text = gribmill("jobs", "types", "ingest_grib").out
    lines = [line.split() for line in text.splitlines()]
    assert any(line[:1] == ["run_id"] and "required" in line for line in lines)
    assert "whole number, 0 to 8784" in text
    assert "no job type" in gribmill("jobs", "types", "x").err


def test_workers_show_heartbeats_and_current_jobs(gribmill: Run, store: Store) -> None:
    assert gribmill("workers").err.startswith("no workers are running")
    assert gribmill("workers", "--json").json == []
    store.workers.heartbeat("host-1-ab", 60.0, types=("sleep",))
    job_id = add(store)
    take(store, "host-1-ab")
    (worker,) = gribmill("workers", "--json").json
    assert (worker["id"], worker["state"], worker["stale"]) == ("host-1-ab", "active", False)
    assert (worker["current_job_id"], worker["running"]) == (job_id, [job_id])
    assert worker["types"] == ["sleep"] and worker["version"]
    row = gribmill("workers").out.splitlines()[1].split()
    assert row[:2] == ["host-1-ab", "active"] and "ago" in row


def test_silent_worker_is_stale_after_the_lease(gribmill: Run, store: Store, data: Path) -> None:
    store.workers.heartbeat("silent", 60.0)
    store.workers.heartbeat("stopped", 60.0, state="stopped")
    by_hand(data, "UPDATE workers SET last_heartbeat = strftime('%Y-%m-%d %H:%M:%f', 'now', '-61 seconds')")
    found = {one["id"]: one["stale"] for one in gribmill("workers", "--json").json}
    assert found == {"silent": True, "stopped": False}
    assert "stopped" not in gribmill("workers").out
    assert "stopped" in gribmill("workers", "--all").out


def test_a_worker_is_drained_or_dismissed_by_its_id(gribmill: Run, store: Store, data: Path) -> None:
    store.workers.heartbeat("host-1-ab", 60.0)
    answer = gribmill("workers", "dismiss", "host-1-ab")
    assert (answer.code, answer.err) == (1, "error: worker host-1-ab is alive: drain it\n")
    assert gribmill("workers", "drain", "host-1-ab").out == "worker host-1-ab will finish its running jobs and stop\n"
    assert gribmill("workers").out.splitlines()[1].split()[:2] == ["host-1-ab", "draining"]
    assert gribmill("workers", "drain", "host-1-ab").err == "error: worker host-1-ab is draining already\n"
    add(store)
    take(store, "host-1-ab")
    by_hand(data, "UPDATE worker_heartbeats SET last_heartbeat = '2026-01-01 00:00:00.000'")
    by_hand(data, "UPDATE jobs SET lease_expires_at = '2026-01-01 00:00:00.000'")
    answer = gribmill("workers", "dismiss", "host-1-ab")
    assert answer.out == "worker host-1-ab is dismissed; 1 job went back into the queue\n"
    assert store.jobs.get(1).status == "pending"
    for verb in ("drain", "dismiss"):
        answer = gribmill("workers", verb, "nobody")
        assert answer.code == 1 and "there is no worker" in answer.err


def test_options_of_the_list_are_not_taken_for_those_of_a_verb(gribmill: Run, store: Store) -> None:
    store.workers.heartbeat("host-1-ab", 60.0)
    answer = gribmill("workers", "--json", "drain", "host-1-ab")
    assert answer.code == 2 and "put options after 'drain'" in answer.err
    assert store.workers.list()[0].state == "active"


def test_verify_is_silent_when_all_is_well_and_lists_what_is_not(gribmill: Run, store: Store, data: Path) -> None:
    add(store)
    answer = gribmill("jobs", "verify")
    assert (answer.code, answer.out) == (0, "all invariants hold\n")
    assert gribmill("jobs", "verify", "--json").json == []
    take(store)
    by_hand(data, "UPDATE job_attempts SET status = 'succeeded'")
    answer = gribmill("jobs", "verify", "--json")
    assert answer.code == 1
    assert {one["job_id"] for one in answer.json} == {1}
    text = gribmill("jobs", "verify")
    assert text.code == 1 and answer.json[0]["invariant"] in text.out


def test_backup_is_complete_and_replaces_nothing_unless_forced(
    gribmill: Run, store: Store, data: Path, tmp_path: Path
) -> None:
    for _ in range(3):
        add(store)
    target = tmp_path / "copy.db"
    assert "3 jobs" in gribmill("jobs", "backup", str(target)).out
    with closing(sqlite3.connect(target)) as copy:
        assert copy.execute("SELECT count(*) FROM jobs").fetchone() == (3,)
    before = target.read_bytes()
    add(store)
    answer = gribmill("jobs", "backup", str(target))
    assert answer.code == 1 and "--force" in answer.err
    assert target.read_bytes() == before
    assert "4 jobs" in gribmill("jobs", "backup", str(target), "--force").out
    assert sorted(path.name for path in tmp_path.iterdir() if "copy" in path.name) == ["copy.db"]


def test_backup_never_replaces_the_queue_itself(gribmill: Run, store: Store, data: Path, tmp_path: Path) -> None:
    add(store)
    link = tmp_path / "link.db"
    link.symlink_to(data / "jobs.db")
    for target in (data / "jobs.db", link):
        answer = gribmill("jobs", "backup", str(target), "--force")
        assert answer.code == 1 and "the queue itself" in answer.err
    assert store.jobs.get(1).status == "pending"


def test_bad_copy_does_not_replace_a_good_one(
    gribmill: Run, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    gribmill("jobs", "backup", str(target))
    before = target.read_bytes()
    monkeypatch.setattr(
        "gribmill.database.sqlite.SqliteDatabase.backup",
        lambda self, path: path.write_bytes(b"SQLite format 3\0" * 99),
    )
    answer = gribmill("jobs", "backup", str(target), "--force")
    assert answer.code == 1 and f"the backup failed: {target}: the file is damaged" in answer.err
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.db"]


def test_backup_into_a_missing_folder_is_an_error(gribmill: Run, tmp_path: Path) -> None:
    answer = gribmill("jobs", "backup", str(tmp_path / "no" / "copy.db"))
    assert answer.code == 1 and "no folder" in answer.err


def test_a_file_that_is_not_a_database_is_an_error(gribmill: Run, data: Path) -> None:
    data.mkdir()
    (data / "jobs.db").write_text("this is no database, but long enough to look at" * 50)
    for words in (["jobs", "list"], ["workers"], ["jobs", "verify"], ["jobs", "retry", "1", "2"]):
        answer = gribmill(*words)
        assert answer.code == 1
        assert "is not an SQLite database" in answer.err and answer.err.count("\n") == 1


def test_watching_the_status_ends_with_ctrl_c(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gribmill.cli.chain.status.time.sleep", interrupted)
    answer = gribmill("status", "--watch")
    assert "no models are followed yet" in answer.out
    assert (answer.code, answer.err) == (130, "")
