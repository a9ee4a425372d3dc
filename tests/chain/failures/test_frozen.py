"""A process frozen past its lease never replaces a newer file when it wakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gribmill.database.sqlite.host_lock import HostLock
from gribmill.storage.atomic import locked_folder
from gribmill.storage.errors import FolderBusy
from gribmill.tiles.errors import TileError
from gribmill.tiles.read.tile import read_tile
from tests.chain.chain_driver import ChainDriver, environment
from tests.chain.conftest import NewChain
from tests.queue.worker.worker_driver import is_stopped
from tests.waiting import wait_until

pytestmark = pytest.mark.process

CHECKOUT = Path(__file__).parents[3]
Frozen = Callable[[ChainDriver, str, str], subprocess.Popen[str]]


@pytest.fixture
def frozen() -> Iterator[Frozen]:
    """Starts a worker with these job types that freezes at that point, and waits until it has."""
    started: list[subprocess.Popen[str]] = []

    def start(chain: ChainDriver, point: str, types: str) -> subprocess.Popen[str]:
        settings = chain.root / "frozen.json"
        settings.write_text(chain.settings.model_dump_json())
        words = [sys.executable, "-m", "tests.chain.failures.freeze_at_point", str(settings), point, types]
        process = subprocess.Popen(words, cwd=CHECKOUT, env=environment(), text=True, stdout=subprocess.PIPE)
        started.append(process)
        wait_until(lambda: is_stopped(process.pid), what="the process to stop itself")
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wake(process: subprocess.Popen[str]) -> str:
    """Resume it and wait for its end; returns its output."""
    os.kill(process.pid, signal.SIGCONT)
    return process.communicate(timeout=60)[0]


def few(chain: ChainDriver) -> None:
    """Hour 1 of the model with one variable, downloaded and not built."""
    chain.publish("hrrr", 1)
    words = ("backfill", "hrrr", "--from", chain.run_id, "--to", chain.run_id, "--hours", "1")
    assert chain.command(*words, "--vars", "t2m", "--region", "ne").returncode == 0


def widen(chain: ChainDriver) -> None:
    """Download the same hour with all variables of the model, by a healthy worker."""
    wait_until(lambda: chain.store.maintenance.recover(), what="the frozen worker's lease to run out")
    chain.hurry("ingest_grib", "build_tile")
    chain.work()
    words = ("backfill", "hrrr", "--from", chain.run_id, "--to", chain.run_id, "--hours", "1", "--region", "ne")
    assert chain.command(*words).returncode == 0
    for _ in range(3):
        chain.hurry("ingest_grib", "build_tile")
        chain.work()


def names(chain: ChainDriver) -> list[str]:
    return read_tile(chain.tile("hrrr", "ne", 1)).names


def is_wide(chain: ChainDriver) -> bool:
    try:
        return len(names(chain)) > 1
    except TileError:  # replaced while it was read
        return False


@pytest.mark.parametrize("point", ["tile decoded, not written", "tile written, not renamed"])
def test_frozen_build_does_not_replace_a_newer_tile(new_chain: NewChain, frozen: Frozen, point: str) -> None:
    chain = new_chain()
    few(chain)
    late = frozen(chain, point, "ingest_grib,build_tile")
    widen(chain)
    wide = chain.tile("hrrr", "ne", 1).read_bytes()
    assert len(names(chain)) > 1
    said = wake(late)
    assert chain.tile("hrrr", "ne", 1).read_bytes() == wide
    assert "build_tile False" in said, "its report is refused"
    assert chain.hours("hrrr")[1].generation == read_tile(chain.tile("hrrr", "ne", 1)).meta.generation == 2
    assert not chain.strays()


@pytest.mark.parametrize("point", ["download not begun", "download whole, not renamed"])
def test_frozen_download_does_not_replace_a_newer_spool_file(new_chain: NewChain, frozen: Frozen, point: str) -> None:
    chain = new_chain(chain={"keep_grib": True})
    few(chain)
    late = frozen(chain, point, "ingest_grib")
    widen(chain)
    record = chain.hours("hrrr")[1]
    spool = chain.context.root.spool(chain.context.catalogue.runs("hrrr")[0].ref.hour(1), record.generation)
    before = spool.read_bytes()
    wide = chain.tile("hrrr", "ne", 1).read_bytes()
    assert record.state == "built" and len(record.found) > 1
    wake(late)
    assert spool.read_bytes() == before
    assert chain.hours("hrrr")[1] == record
    assert chain.tile("hrrr", "ne", 1).read_bytes() == wide
    chain.tile("hrrr", "ne", 1).unlink()
    args = json.dumps({"model_id": "hrrr", "run_id": chain.run_id, "hour": 1, "regions": ["ne"]})
    chain.command("jobs", "enqueue", "ingest_grib", args)
    chain.work()
    assert chain.tile("hrrr", "ne", 1).read_bytes() == wide, "it is built from the recorded file"


def test_process_that_is_frozen_with_the_lock_is_named(new_chain: NewChain, frozen: Frozen) -> None:
    chain = new_chain()
    few(chain)
    late = frozen(chain, "tile about to be renamed, lock held", "ingest_grib,build_tile")
    folder = chain.tile("hrrr", "ne", 1).parent
    with pytest.raises(FolderBusy, match=rf"locked by process {late.pid} .*kill -CONT {late.pid}"):
        with locked_folder(folder, patience_seconds=0.1):
            pass
    late.kill()
    late.wait()
    with locked_folder(folder, patience_seconds=10):
        pass


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def waits_for_orders(pid: int) -> bool:
    """Whether an executor sleeps without open files in the data root, so it has finished its work."""
    sleeps = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    return sleeps and not any("/tiles/" in str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir())


def test_frozen_worker_with_a_real_supervisor_changes_nothing_when_it_is_thawed(
    new_chain: NewChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Supervisor and executor are stopped in the middle of a build, as by a suspended machine. Another worker takes
    the job over and builds a wider tile. Then the executor wakes first, with its old tile in memory."""
    chain = new_chain()
    few(chain)
    frozen_at = chain.root / "frozen"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).with_name("frozen_site")))
    monkeypatch.setenv("FREEZE_ONCE", str(frozen_at))
    late = chain.start("work", "--lanes", "fetch=1,build=1")
    wait_until(frozen_at.exists, what="a build to begin")
    (executor,) = wait_until(
        lambda: [pid for pid in children(late.pid) if is_stopped(pid)], what="the executor to stop itself"
    )
    with HostLock(chain.data / "jobs.db.lock"):  # the supervisor must not stop in the middle of a write
        os.kill(late.pid, signal.SIGSTOP)
        wait_until(lambda: is_stopped(late.pid), what="the supervisor to stop")
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.delenv("FREEZE_ONCE")

    chain.lose_running()
    chain.start("work", "--lanes", "fetch=1,build=1")
    chain.hurry("build_tile")
    wait_until(lambda: chain.tile("hrrr", "ne", 1).is_file(), what="the other worker to take over")
    backfill = ("backfill", "hrrr", "--from", chain.run_id, "--to", chain.run_id, "--hours", "1", "--region", "ne")
    assert chain.command(*backfill).returncode == 0
    wait_until(lambda: is_wide(chain), what="the wider tile")
    wait_until(lambda: all(job.completed_at for job in chain.jobs()), what="the queue to be empty")
    wide = chain.tile("hrrr", "ne", 1).read_bytes()

    os.kill(executor, signal.SIGCONT)
    wait_until(lambda: waits_for_orders(executor), what="the executor to end its build")
    assert chain.tile("hrrr", "ne", 1).read_bytes() == wide
    os.kill(late.pid, signal.SIGCONT)
    log = chain.root / "process-0.log"
    wait_until(lambda: "is no longer ours: its result is dropped" in log.read_text(), what="the report to be refused")
    assert chain.tile("hrrr", "ne", 1).read_bytes() == wide
    assert len(chain.hours("hrrr")[1].found) == len(names(chain))
    late.terminate()
    late.wait(60)
    chain.assert_sound()
