"""The PostgreSQL server of the tests: one for each process that runs tests, gone with it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.servers import postgres, required, shared_postgres
from tests.servers.postgres import NoServer, PostgresServer
from tests.servers.shared_postgres import ROOT, fresh_database, postgres_url
from tests.servers.this_run import GIVEN_POSTGRES
from tests.waiting import wait_until

pytestmark = pytest.mark.postgres

USE_IT = "from tests.servers.shared_postgres import postgres_url; print(postgres_url(), flush=True); input()"


def _with_one_table(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE things (id int)")


def test_each_database_is_a_copy_of_its_template_and_only_its_own() -> None:
    with fresh_database("things", _with_one_table) as one, fresh_database("things", _with_one_table) as other:
        with psycopg.connect(one) as connection:
            connection.execute("INSERT INTO things VALUES (1)")
        with psycopg.connect(other) as connection:
            assert connection.execute("SELECT count(*) FROM things").fetchone() == (0,)


def test_server_is_one_that_gribmill_supports() -> None:
    with psycopg.connect(postgres_url()) as connection:
        assert 15 <= connection.info.server_version // 10_000 <= 18


def _start_using(**variables: str) -> tuple[subprocess.Popen[str], str]:
    """Another process that uses the server, and where that is."""
    process = subprocess.Popen(
        [sys.executable, "-c", USE_IT],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.skipif(GIVEN_POSTGRES is not None, reason="the server was given, not started")
def test_processes_that_a_test_starts_share_its_server() -> None:
    process, url = _start_using()
    process.communicate("")
    assert url == postgres_url()


@pytest.mark.skipif(GIVEN_POSTGRES is not None, reason="the server was given, not started")
def test_server_of_a_killed_run_has_ended() -> None:
    # A separate test run: it has no process id of a run that started it.
    process, url = _start_using(PYTEST_RUN_PID_OF_GRIBMILL="", PYTEST_POSTGRES_PID_OF_GRIBMILL="")
    home = Path(str(conninfo_to_dict(url)["host"]))
    server = int((home / "data" / "postmaster.pid").read_text().split()[0])
    assert url != postgres_url()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_until(lambda: not home.exists() and not Path(f"/proc/{server}").exists(), what="the server to be gone")


def test_without_programs_tests_are_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(postgres, "DEBIAN", tmp_path)
    monkeypatch.setattr(postgres, "WHEEL", "no_such_wheel")
    monkeypatch.delenv(postgres.WANTED_VERSION, raising=False)
    with pytest.raises(NoServer, match=r"no PostgreSQL: neither .* is installed; give a server with"):
        postgres.find_programs()

    def none_here() -> str:
        raise NoServer("no PostgreSQL")

    monkeypatch.setattr(shared_postgres, "_server_url", none_here)
    monkeypatch.setattr(required, "SERVERS_REQUIRED", False)
    with pytest.raises(pytest.skip.Exception, match="no PostgreSQL"):
        postgres_url()
    monkeypatch.setattr(required, "SERVERS_REQUIRED", True)
    with pytest.raises(pytest.fail.Exception, match="GRIBMILL_REQUIRE_SERVERS=1: no PostgreSQL"):
        postgres_url()


@pytest.mark.skipif(os.geteuid() != 0, reason="only as root does the server run as another user")
def test_programs_that_only_root_can_reach_are_run_from_a_copy(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    spec = importlib.util.find_spec(postgres.WHEEL)
    assert spec is not None and spec.origin is not None
    (private / "packages").symlink_to(Path(spec.origin).parents[1])
    programs = min(private.glob(f"packages/{postgres.WHEEL}/pginstall*/bin"))
    home = postgres.make_home(str(os.getpid()))
    try:
        server = PostgresServer(home, programs)
        server.create()
        assert not server.programs.is_relative_to(private)
        assert (server.data / "PG_VERSION").is_file()
    finally:
        shutil.rmtree(home)


@pytest.mark.skipif(GIVEN_POSTGRES is not None, reason="the server was given, not started")
def test_server_that_cannot_start_is_reported_to_all_and_not_tried_again(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import pwd\n"
        "def unknown(name):\n"
        "    raise KeyError(f'no user {name}')\n"
        "pwd.getpwnam = unknown\n"
        "import os\n"
        "os.geteuid = lambda: 0\n"
    )
    alone = {"PYTEST_RUN_PID_OF_GRIBMILL": "", "PYTEST_POSTGRES_PID_OF_GRIBMILL": ""}
    code = (
        "import time\n"
        "from tests.servers import shared_postgres\n"
        "from tests.servers.postgres import NoServer\n"
        "shared_postgres.PATIENCE_SECONDS = 60\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        shared_postgres._server_url()\n"
        "    except NoServer as error:\n"
        "        print(error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **alone, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines() == ["no PostgreSQL: 'no user nobody'"] * 2
