"""The chain with its queue in PostgreSQL: the same tiles, whatever happens to workers, connections and the server."""

from __future__ import annotations

import json
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model
from tests.queue.backends import make_tables, new_address
from tests.servers.own_postgres import own_postgres
from tests.servers.postgres import PostgresServer
from tests.servers.skewed_clock import skewed_clock
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres]

SEED = 20230125
CHAIN = ("ingest_grib", "build_tile", "publish")
OF_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"


@pytest.fixture
def chain(new_chain: NewChain, tmp_path: Path) -> Iterator[ChainDriver]:
    with new_address("postgres", tmp_path) as url:
        yield new_chain(changes={"database": url})


def finish(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    """Let the chain finish, without waiting for delayed jobs."""
    wait_until(lambda: chain.hurry(*CHAIN) * 0 + chain.complete("hrrr"), 180, f"the rest: {chain.troubles()}")
    chain.wait_complete("hrrr")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert chain.latest("hrrr")["ne"]["complete"] == chain.run_id
    chain.assert_sound()


def test_commands_work_as_on_a_file(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    chain.publish("hrrr")
    chain.look("hrrr")
    assert chain.complete("hrrr"), chain.troubles()
    assert chain.tiles() == of_model(reference, "hrrr")
    assert not (chain.data / "jobs.db").exists()
    for words in ("status", "jobs list", "jobs stats", "jobs verify", "workers", "mirrors list", "db status", "doctor"):
        answer = chain.command(*words.split())
        assert answer.returncode == 0 or words in ("status", "doctor"), answer.stderr
        assert not answer.stderr or words == "workers", f"{words}: {answer.stderr}"
    chain.assert_sound()


def test_command_on_a_host_whose_clock_is_a_month_ahead_removes_no_run(
    chain: ChainDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.publish("hrrr")
    chain.look("hrrr")
    before = chain.tiles()
    for name, value in skewed_clock(tmp_path, 30 * 86_400).items():
        monkeypatch.setenv(name, value)
    answer = chain.finish("prune", "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["runs"] == []
    assert before and chain.tiles() == before


def test_workers_killed_at_random_build_the_same_tiles(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    dice = random.Random(SEED)
    chain.publish("hrrr")
    team = [chain.start("run"), chain.start("work")]
    for _ in range(4):
        wait_until(lambda: chain.jobs("processing") or chain.complete("hrrr"), 60, f"work: {chain.counts()}")
        if chain.complete("hrrr"):
            break
        victim = dice.randrange(2)
        team[victim].kill()
        team[victim].wait()
        team[victim] = chain.start(("run", "work")[victim])
    finish(chain, reference)
    assert chain.tiles() == of_model(reference, "hrrr")


@contextmanager
def repeatedly(act: Callable[[], object], seconds: float) -> Iterator[None]:
    over = threading.Event()

    def run() -> None:
        while not over.wait(seconds):
            act()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_repeatedly_cut_connections_cost_nothing(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    url = chain.settings.database
    assert url is not None
    chain.publish("hrrr")
    cut: list[int] = []

    def cut_all() -> None:
        """Cut the connections of workers, executors and this process."""
        with psycopg.connect(url, autocommit=True) as connection:
            cut.append(len(connection.execute(OF_OTHERS, (connection.info.backend_pid,)).fetchall()))

    worker = chain.start("run")
    wait_until(lambda: chain.store.workers.list(), what="the worker to run")
    with repeatedly(cut_all, 0.3):
        wait_until(lambda: sum(cut) > 20, 60, "connections to cut")
    assert worker.poll() is None, "the worker outlives its connections"
    finish(chain, reference)


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that the test may stop."""
    with own_postgres() as server:
        make_tables(server.url())
        yield server


def test_crash_and_restart_of_the_server_cost_nothing(
    new_chain: NewChain, own_server: PostgresServer, reference: dict[str, bytes]
) -> None:
    chain = new_chain(changes={"database": own_server.url()})
    chain.publish("hrrr")
    worker = chain.start("run")
    for _ in range(2):
        wait_until(lambda: chain.jobs("processing") or chain.complete("hrrr"), 60, "work")
        own_server.stop("immediate")
        own_server.start()
    assert worker.poll() is None, "the worker outlives the server"
    finish(chain, reference)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0


def test_commands_that_follow_something_outlast_a_crash_of_the_server(
    new_chain: NewChain, own_server: PostgresServer
) -> None:
    chain = new_chain(changes={"database": own_server.url()})
    backfill = chain.start("backfill", "gfs", "--from", chain.run_id, "--to", chain.run_id, "--hours", "0", "--wait")
    wait_until(lambda: "no worker is running" in log(chain, 0), 60, "the backfill to wait")
    run = chain.start("run", "--until-complete")
    wait_until(lambda: "waiting for hrrr" in log(chain, 1), 60, "the run to wait")
    watchers = [chain.start(*words) for words in (("events", "tail", "-f"), ("jobs", "stats", "--watch"))]
    wait_until(lambda: "run.seen" in log(chain, 2) and "scan_source" in log(chain, 3), 60, "the watchers to begin")
    own_server.stop("immediate")
    for number in (0, 1, 2, 3):
        wait_until(partial(has_noticed, chain, number), 60, f"an outage: {log(chain, number)}")
    own_server.start()
    chain.publish("gfs")
    chain.publish("hrrr")
    wait_until(lambda: bool(chain.hurry("ingest_grib") + 1) and backfill.poll() is not None, 120, log(chain, 0))
    assert backfill.returncode == 0, log(chain, 0)
    assert run.wait(120) == 0, log(chain, 1)
    wait_until(lambda: "run.completed" in log(chain, 2), 60, "an event after the outage")
    assert [one.poll() for one in watchers] == [None, None], log(chain, 3)


def log(chain: ChainDriver, number: int) -> str:
    """The output of a process that the chain has started."""
    return (chain.root / f"process-{number}.log").read_text()


def has_noticed(chain: ChainDriver, number: int) -> bool:
    return "the database cannot be reached" in log(chain, number)
