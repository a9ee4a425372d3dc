"""Jobs wait while the disk is full, and downloads leave room for tiles."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gribmill.queue.model import Snoozed
from gribmill.queue.worker.in_process import TickedJob
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model
from tests.waiting import wait_until

pytestmark = pytest.mark.process

Mount = Callable[[Path, str], Path]


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Mounts a disk in memory of that size."""
    mounted: list[Path] = []

    def at(folder: Path, size: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            done = subprocess.run(words, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("there is no mount command here")
        if done.returncode:
            pytest.skip(f"a disk in memory cannot be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield at
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Write a file that fills the disk."""
    ballast = folder / "ballast"
    block = 1 << 20
    with ballast.open("wb", buffering=0) as file:
        while block:
            try:
                file.write(bytes(block))
            except OSError:
                block //= 2
    return ballast


def said(chain: ChainDriver) -> list[str]:
    """The events about the disk."""
    return [event.name for event in reversed(chain.store.events.list(pattern="disk.*"))]


def snoozed(ran: list[TickedJob], kind: str) -> list[Snoozed]:
    """The outcomes of all jobs of that type; none may have failed or succeeded."""
    found = [one.outcome for one in ran if one.job.type == kind]
    assert all(isinstance(one, Snoozed) for one in found), found
    return [one for one in found if isinstance(one, Snoozed)]


def test_tiles_wait_for_space_and_are_then_built(
    new_chain: NewChain, reference: dict[str, bytes], mount: Mount
) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    ballast = fill(mount(chain.data / "tiles", "1m"))
    waiting = snoozed(chain.look("hrrr"), "build_tile")
    assert len(waiting) == 6
    assert "no space is left on the disk for" in waiting[0].reason
    for _ in range(5):
        chain.hurry("build_tile")
        snoozed(chain.work(), "build_tile")
    assert not chain.jobs("failed"), "it waits as long as it takes"
    ballast.unlink()
    chain.hurry("build_tile")
    chain.work()
    assert chain.tiles() == of_model(reference, "hrrr")
    assert chain.complete("hrrr") and not chain.spooled()


def test_downloads_wait_for_space_without_using_any(
    new_chain: NewChain, reference: dict[str, bytes], mount: Mount
) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    ballast = fill(mount(chain.data / "grib", "1m"))
    waiting = snoozed(chain.look("hrrr"), "ingest_grib")
    assert len(waiting) == 3
    assert "no space is left on the disk for" in waiting[0].reason
    assert [path.name for path in chain.spooled()] == ["ballast"], "nothing half is kept"
    ballast.unlink()
    chain.hurry("ingest_grib")
    chain.work()
    assert chain.tiles() == of_model(reference, "hrrr")


def test_latest_json_waits_for_space(new_chain: NewChain, mount: Mount) -> None:
    chain = new_chain()
    chain.publish("hrrr", 0)
    folder = mount(chain.data / "tiles" / "hrrr", "1m")
    chain.look_only("hrrr", "scan_source", "ingest_grib", "build_tile")
    ballast = fill(folder)
    assert snoozed(chain.work(), "publish")
    assert not chain.spooled(), "what frees space is done first"
    ballast.unlink()
    chain.hurry("publish")
    chain.work()
    assert chain.latest("hrrr")["ne"]["newest"] == chain.run_id


def test_chain_on_a_small_disk_waits_for_space_and_ends_with_tiles(
    new_chain: NewChain, reference: dict[str, bytes], mount: Mount
) -> None:
    chain = new_chain()
    mount(chain.data, "24m")
    ballast = chain.data / "ballast"
    ballast.write_bytes(bytes(22_600_000))
    chain.publish("hrrr")
    chain.start("run")

    def reasons() -> list[str]:
        jobs = chain.jobs("pending", "ingest_grib")
        return [one.error_text or "" for job in jobs for one in chain.store.jobs.history(job.id).attempts[-1:]]

    wait_until(lambda: len(reasons()) == 3 and all(reasons()), what="the downloads to wait")
    assert all("(chain.min_free_gigabytes): nothing is downloaded until it has more" in one for one in reasons())
    assert not chain.spooled()
    assert said(chain) == ["disk.low"]
    ballast.unlink()
    wait_until(lambda: chain.hurry("ingest_grib", "build_tile") * 0 + chain.complete("hrrr"), 90, "the tiles")
    chain.wait_complete("hrrr")
    assert chain.tiles() == of_model(reference, "hrrr")
    wait_until(lambda: not chain.spooled(), what="the messages to go")
    assert said(chain) == ["disk.low", "disk.freed"], "once each"


def test_downloads_do_not_run_ahead_of_tiles_on_a_small_disk(new_chain: NewChain, mount: Mount) -> None:
    chain = new_chain()
    mount(chain.data, "24m")
    chain.publish("hrrr", 0)
    chain.look_only("hrrr", "scan_source", "ingest_grib")
    with contextlib.closing(sqlite3.connect(chain.data / "jobs.db")) as rows, rows:
        rows.execute("UPDATE hours SET bytes = 24000000 WHERE state = 'ingested'")  # as if the hour were large
    chain.publish("hrrr", 1)
    chain.hurry("scan_source")
    (waits,) = snoozed(chain.look_only("hrrr", "scan_source", "ingest_grib"), "ingest_grib")
    assert "1 downloaded hour waits for tiles (24.0 MB)" in waits.reason
    with contextlib.closing(sqlite3.connect(chain.data / "jobs.db")) as rows, rows:
        rows.execute("UPDATE hours SET bytes = (SELECT 1)")
    chain.work()
    chain.hurry("ingest_grib", "build_tile")
    chain.work()
    assert chain.hours("hrrr")[1].state == "built", "the tiles of the first hour are built, and the next is fetched"
