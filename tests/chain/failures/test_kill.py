"""kill -9 at any point: afterwards the tiles are complete and identical."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gribmill.pipeline.job_types import scan_job
from gribmill.pipeline.retention import remove_leftovers
from gribmill.sandbox.publisher.fault import Fault
from gribmill.sandbox.publisher.faults import Faults
from gribmill.storage.layout import DataRoot
from tests.chain.chain_driver import environment
from tests.chain.conftest import NewChain, of_model
from tests.chain.failures.die_at_point import POINTS
from tests.waiting import wait_until

pytestmark = pytest.mark.process

CHECKOUT = Path(__file__).parents[3]
CHAIN = ("ingest_grib", "build_tile", "publish")


Dying = Callable[[Path, str], int]


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    """Runs a worker until that point; returns its exit code."""
    words = [sys.executable, "-m", "tests.chain.failures.die_at_point"]
    with subprocess.Popen(
        words, cwd=CHECKOUT, env=environment(), text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        lines, answers = process.stdin, process.stdout
        assert lines is not None and answers is not None

        def live(settings: Path, point: str) -> int:
            lines.write(f"{settings}\t{point}\n")
            return int(answers.readline())

        yield live
        lines.close()


@pytest.mark.parametrize("point", POINTS)
def test_worker_that_dies_at_any_point_costs_nothing(
    new_chain: NewChain, reference: dict[str, bytes], dying: Dying, point: str
) -> None:
    chain = new_chain()
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    settings = chain.root / "settings.json"
    settings.write_text(chain.settings.model_dump_json())
    assert dying(settings, point) == -signal.SIGKILL
    for place in chain.tiles():
        assert chain.tiles()[place] == reference[place], "a tile that is there is whole"
    wait_until(lambda: chain.store.maintenance.recover(), what="the dead worker's lease to run out")
    wait_until(lambda: chain.work() and not chain.hurry(*CHAIN) and chain.complete("hrrr"), what="the rest")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    assert not chain.spooled()
    if "half written" in point:
        (left,) = chain.strays()
        assert remove_leftovers(DataRoot(chain.data), left.stat().st_mtime - 1) == 0
        assert remove_leftovers(DataRoot(chain.data), left.stat().st_mtime + 1) == 1
    chain.assert_sound()


def test_killed_executor_and_killed_supervisor_cost_nothing(new_chain: NewChain, reference: dict[str, bytes]) -> None:
    """They are killed in the middle of a slow download, while nothing else is written that could be left behind."""
    slow = Faults([Fault("slow", keys="*wrfsfcf01.grib2")])
    chain = new_chain(faults=slow)
    chain.publish("hrrr", 1)
    process = chain.start("run")
    part = chain.data / "grib" / "hrrr" / chain.run_id / ".001.g1.grib2.part"
    wait_until(part.exists, what="the download to begin")
    job = next(job for job in chain.jobs("processing") if job.type == "ingest_grib" and job.args["hour"] == 1)
    pid = chain.store.jobs.history(job.id).attempts[-1].pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: chain.store.jobs.history(job.id).attempts[0].status == "failed", what="the death to be noticed")
    chain.hurry("ingest_grib")
    wait_until(lambda: chain.store.jobs.get(job.id).status == "processing", what="the second attempt")
    process.kill()
    process.wait()
    assert not chain.tile("hrrr", "ne", 1).exists()

    chain.publish("hrrr")
    chain.start("run")
    wait_until(lambda: chain.hurry("scan_source", *CHAIN) * 0 + chain.complete("hrrr"), 120, "the rest")
    chain.wait_complete("hrrr")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert [one.status for one in chain.store.jobs.history(job.id).attempts] == ["failed", "lost", "succeeded"]
    wait_until(lambda: not chain.spooled(), what="the messages to go")
    chain.assert_sound()
