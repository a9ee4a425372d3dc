"""Backfills from the user's view: requested, run here or by workers, and shown by `status`."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta

import pytest

from gribmill.queue.model import NewTenant, Snoozed
from tests.chain.conftest import NewChain
from tests.chain.sample_forecasts import tables
from tests.waiting import wait_until


def words(run_id: str, *more: str) -> tuple[str, ...]:
    return ("backfill", "gfs", "--from", run_id, "--to", run_id, "--region", "ne", *more)


@pytest.mark.process
def test_backfill_here_does_the_work_and_ends(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.store.tenants.add(NewTenant("north"))
    chain.publish("gfs")
    done = chain.finish(*words(chain.run_id, "--hours", "0-1", "--tenant", "north", "--here"))
    assert (done.returncode, done.stdout) == (0, "gfs: enqueued 2 files of 1 run for 2 tiles\n"), done.stderr
    assert done.stderr.endswith("done\n")
    assert chain.tile("gfs", "ne", 0).is_file() and chain.tile("gfs", "ne", 1).is_file()
    assert all(worker.state == "stopped" for worker in chain.store.workers.list())
    assert not [job for job in chain.jobs() if job.status in ("pending", "processing")]
    again = chain.finish(*words(chain.run_id, "--hours", "0-1", "--here"))
    assert (again.returncode, again.stdout) == (0, "gfs: nothing to fetch; 2 files here already\n")


def test_an_hour_that_a_backfill_waits_for_is_fetched_when_a_scan_sees_it(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.command(*words(chain.run_id))
    assert [type(one.outcome) for one in chain.work()] == [Snoozed] * 3
    chain.publish("gfs")
    chain.look("gfs")
    assert {place.split("/")[3] for place in chain.tiles("gfs")} == {"ne"}
    chain.look("gfs")
    assert {place.split("/")[3] for place in chain.tiles("gfs")} == {"ne", "texas"}, "the regions of [chain] follow"
    assert chain.complete("gfs")


@pytest.mark.process
def test_backfill_here_fails_if_a_file_is_unavailable(new_chain: NewChain) -> None:
    chain = new_chain()
    models = tables(chain.forecasts.run, f"http://127.0.0.1:{chain.port}/", late_minutes=1)
    models["gfs"]["give_up_hours"] = 1
    chain.changes["models"] = models
    chain.publish("gfs", 0)
    done = chain.finish(*words(chain.run_id, "--hours", "0-1", "--here"))
    assert done.returncode == 1
    assert "1 job failed; `gribmill jobs list --status failed` says why" in done.stderr
    assert chain.tile("gfs", "ne", 0).is_file(), "the others are built anyway"


@pytest.mark.process
def test_backfill_here_says_which_hours_it_waits_for(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("gfs", 0)
    command = chain.start(*words(chain.run_id, "--hours", "0-2", "--here"))
    said = chain.root / "process-0.log"
    line = f"gfs {chain.run_id}: hours 1, 2 are not published yet; "
    wait_until(lambda: line in said.read_text() and "next look at " in said.read_text(), 60, "the sentence")
    assert chain.tile("gfs", "ne", 0).is_file(), "it waits only when nothing else is left to do"
    command.send_signal(signal.SIGINT)
    assert command.wait(30) == 1
    assert said.read_text().count("next look at ") == 1, "it is said once"
    assert "stopped with 2 jobs left; the same command continues" in said.read_text()


def test_backfill_of_an_arriving_run_shows_when_its_hours_are_expected(new_chain: NewChain) -> None:
    chain = new_chain()
    now = datetime.now(UTC)
    minutes = (now - chain.forecasts.run).total_seconds() / 60
    models = tables(chain.forecasts.run, f"http://127.0.0.1:{chain.port}/", late_minutes=10_000)
    models["gfs"]["latency"] = [{"points": [[0, 0, 9999], [1, minutes + 30, 9999], [2, minutes + 60, 9999]]}]
    chain.changes["models"] = models
    said = chain.command(*words(chain.run_id)).stderr
    first, last = now + timedelta(minutes=30), now + timedelta(minutes=60)
    assert said == (
        f"note: gfs {chain.run_id}: hours 1, 2 are not published yet; usually there from {first:%H:%M} to {last:%H:%M}"
        " UTC; fetched as soon as a mirror has them\n"
    )


def test_dry_run_lists_what_mirrors_have(new_chain: NewChain) -> None:
    chain = new_chain()
    chain.publish("gfs", 0)
    said = chain.command(*words(chain.run_id, "--dry-run")).stdout
    assert "mirrors have 1 of 3; about " in said
    chain.server.stop()
    said = chain.command(*words(chain.run_id, "--dry-run")).stdout
    assert "3 counted from the model's schedule (no mirror answered); size not known" in said


@pytest.mark.parametrize("contradiction", ["--here", "--wait"])
def test_dry_run_does_no_work(new_chain: NewChain, contradiction: str) -> None:
    chain = new_chain()
    assert chain.command(*words(chain.run_id, "--dry-run", contradiction)).returncode == 2
