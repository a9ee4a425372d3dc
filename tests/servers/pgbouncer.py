"""PgBouncer in transaction mode in front of the tests' PostgreSQL, where it is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import psycopg
import pytest

from tests.waiting import wait_until

PORT = 6432
CONFIG = """\
[databases]
* = host={server} user=postgres

[pgbouncer]
listen_addr =
unix_socket_dir = {home}
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 4
server_round_robin = 1
logfile = {home}/log
pidfile = {home}/pid
"""


@contextmanager
def pgbouncer(url: str) -> Iterator[str]:
    """The URL of the same database through PgBouncer; each transaction may get another of its few connections."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    server = parse_qs(urlsplit(url).query).get("host", [""])[0]
    if program is None or not server:
        pytest.skip("pgbouncer is not installed, or the server was given" if server else "the server was given")
    home = Path(tempfile.mkdtemp(prefix="gribmill-bouncer-"))
    as_nobody: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        as_nobody = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
    (home / "ini").write_text(CONFIG.format(server=server, home=home, port=PORT))
    process = subprocess.Popen([program, "-q", home / "ini"], stderr=subprocess.DEVNULL, cwd=home, **as_nobody)
    pooled = urlunsplit(urlsplit(url)._replace(query=f"host={home}&port={PORT}"))
    try:
        wait_until(lambda: _answers(pooled), what="PgBouncer to answer")
        yield pooled
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(home, ignore_errors=True)


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
        return True
    except psycopg.OperationalError:
        return False
