"""Workers of an older gribmill and of this one, side by side on one database that this one migrated.

`GRIBMILL_TEST_OLDER` names the program of the older version, for example `../older/.venv/bin/gribmill` after
`git worktree add ../older TAG`, `python -m venv ../older/.venv` and
`../older/.venv/bin/pip install ../older[postgres]`. Run with `make soak`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.queue.model import NewJob
from tests.chain.chain_driver import ChainDriver, environment
from tests.chain.conftest import NewChain, of_model
from tests.servers.shared_postgres import fresh_database
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres, pytest.mark.soak]

OLDER = "GRIBMILL_TEST_OLDER"
PROGRAM = os.environ.get(OLDER)


@pytest.fixture
def older() -> str:
    if not PROGRAM:
        pytest.skip(f"{OLDER} does not name the program of an older gribmill")
    return str(Path(PROGRAM).absolute())


@pytest.fixture
def chain(new_chain: NewChain) -> Iterator[ChainDriver]:
    with fresh_database("empty", lambda _: None) as url:
        yield new_chain(changes={"database": url})


def start(older: str, chain: ChainDriver, *words: str) -> subprocess.Popen[bytes]:
    output = (chain.root / f"older-{words[0]}.log").open("wb")
    with output:
        process = subprocess.Popen(
            [older, *chain.words(*words)], stdout=output, stderr=output, env=environment(), cwd=chain.root
        )
    chain._processes.append(process)
    return process


def done_by(chain: ChainDriver) -> dict[int, set[int]]:
    """The jobs that succeeded, by the process id of the worker."""
    found: dict[int, set[int]] = {}
    for job in chain.jobs("completed"):
        for attempt in chain.store.jobs.history(job.id).attempts:
            if attempt.status == "succeeded":
                found.setdefault(int(attempt.worker_id.split("-")[-2]), set()).add(job.id)
    return found


def test_old_and_new_workers_share_a_database_that_the_new_version_migrated(
    chain: ChainDriver, older: str, reference: dict[str, bytes]
) -> None:
    made = subprocess.run([older, *chain.words("db", "init", "--json")], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    chain.publish("hrrr", 0)
    old = start(older, chain, "run")
    wait_until(lambda: old.poll() is not None or b" runs " in (chain.root / "older-run.log").read_bytes(), 60)

    migrated = chain.finish("db", "migrate", "--json")
    assert migrated.returncode == 0, migrated.stderr
    assert json.loads(migrated.stdout)["applied"], "the older version has the same tables"
    wait_until(lambda: old.pid in done_by(chain), 120, "the older worker to go on")

    new = chain.start("work")
    chain.publish("hrrr")

    def both_have_worked() -> bool:
        """Enqueue one more job unless one is waiting: a single worker might do all of them."""
        if not chain.jobs("pending", "sleep"):
            chain.store.jobs.enqueue(NewJob("sleep", {"seconds": 0}))
        return {old.pid, new.pid} <= done_by(chain).keys()

    wait_until(both_have_worked, 120, f"both to work: {chain.troubles()}")
    before = done_by(chain)[old.pid]
    chain.look_only("hrrr", "scan_source")
    wait_until(lambda: chain.hurry("ingest_grib", "build_tile", "publish") * 0 + chain.complete("hrrr"), 180)
    old.send_signal(signal.SIGTERM)
    assert old.wait(60) == 0, "the older worker drains"
    said = (chain.root / "older-run.log").read_text()
    assert "Traceback" not in said, said
    assert before <= done_by(chain)[old.pid]
    assert chain.tiles().keys() == of_model(reference, "hrrr").keys()
    chain.assert_sound()
    for words in ("db migrate", "jobs verify", "status"):
        answer = subprocess.run([older, *chain.words(*words.split())], capture_output=True, text=True, check=False)
        assert answer.returncode == 0, f"the older version's {words}: {answer.stdout}{answer.stderr}"
    same = sum(chain.tiles()[place] == data for place, data in of_model(reference, "hrrr").items())
    print(f"{same} of {len(chain.tiles())} files have the bytes that this version alone writes")
